import type { ExecutionContext } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import type { Request } from 'express';
import { Settings } from '../config/settings';
import { type BucketSize, bucketSizeOf, rateClassOf } from './bucket';
import { TokenBuckets } from './token-buckets';

/**
 * The general limits of requests under /v1, in the terms of `TokenBuckets.increment`. An application may have its own.
 */
export const throttling = ThrottlerModule.forRootAsync({
  inject: [Settings, TokenBuckets],
  useFactory: (settings: Settings, storage: TokenBuckets) => {
    const sizeOf = (context: ExecutionContext): BucketSize =>
      bucketSizeOf(settings.rateLimits[rateClassOf(context.switchToHttp().getRequest<Request>().method)]);
    return {
      storage,
      throttlers: [
        {
          name: 'client',
          limit: (context) => sizeOf(context).burst,
          ttl: (context) => sizeOf(context).interval / 1_000,
        },
      ],
    };
  },
});
