import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Charge } from '#libs/kernel';
import { Settings } from '#libs/platform/config';
import { TokenBuckets, bucketSizeOf, limitOf } from '#libs/platform/throttling';
import type { Grant } from '../domain/application';
import { TokenRequestLimiter } from '../domain/token-request-limiter.port';

/** A source may fail with this many client ids before all of its failures are refused. */
const CLIENTS_PER_SOURCE = 10;

@Injectable()
export class TokenRequestLimiterRedis extends TokenRequestLimiter {
  constructor(
    private readonly buckets: TokenBuckets,
    private readonly settings: Settings,
  ) {
    super();
  }

  async chargeClient({ clientId, limits }: Grant): Promise<Charge> {
    return this.buckets.charge(clientId, 'token', bucketSizeOf(limitOf('token', limits, this.settings.rateLimits)));
  }

  async chargeFailure(clientId: string, source: string): Promise<Charge> {
    const { perMinute, burst } = this.settings.rateLimits.token;
    const all = bucketSizeOf({ perMinute: perMinute * CLIENTS_PER_SOURCE, burst: burst * CLIENTS_PER_SOURCE });
    const bySource = await this.buckets.charge(`source ${source}`, 'failure', all);
    // An exhausted source gets no further buckets. So memory grows with sources, not with invented client ids.
    if (!bySource.allowed) return bySource;
    // An unverified client id may have any length and characters, so it must not be part of a key.
    const pair = createHash('sha256').update(`${source}\n${clientId}`).digest('base64url');
    return this.buckets.charge(`failure ${pair}`, 'failure', bucketSizeOf({ perMinute, burst }));
  }
}
