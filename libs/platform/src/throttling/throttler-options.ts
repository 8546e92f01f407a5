import type { ExecutionContext } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import type { Request } from 'express';
import type { RateLimit } from '#libs/kernel';
import { Settings } from '../config/settings';
import { limitOf, microsecondsToFill, rateClassOf } from './rate-limit';
import { TokenBuckets } from './token-buckets';

/** The limits of requests under /v1: the application's own where it has some, else those of the settings. */
export const throttling = ThrottlerModule.forRootAsync({
  inject: [Settings, TokenBuckets],
  useFactory: (settings: Settings, storage: TokenBuckets) => {
    const limitOfRequest = (context: ExecutionContext): RateLimit => {
      const request = context.switchToHttp().getRequest<Request>();
      return limitOf(rateClassOf(request.method), request.context.caller?.limits ?? {}, settings.rateLimits);
    };
    return {
      storage,
      throttlers: [
        {
          name: 'client',
          limit: (context) => limitOfRequest(context).burst,
          ttl: (context) => microsecondsToFill(limitOfRequest(context)) / 1_000,
        },
      ],
    };
  },
});
