import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import type { Charge, RateLimit } from '#libs/kernel';
import { Settings } from '../config/settings';
import { RedisServer } from '../redis/redis-server';
import { toCharge } from './bucket';
import { CHARGE, SPEND } from './charge-script';
import { LocalBuckets } from './local-buckets';
import { intervalOf } from './rate-limit';

/** What the script gives: allowed, microseconds' worth of tokens left, microseconds to full. */
export type ChargeReply = readonly [number, number, number];

export const chargeOf = ([allowed, spare, toFull]: ChargeReply, limit: RateLimit): Charge =>
  toCharge(limit, allowed === 1, spare, toFull);

/**
 * Token buckets that all replicas share in Redis. While it is away each has its own, with its share of the limit: never
 * without a limit, never closed, and never an error because of the limiter itself (decisions, section 3).
 */
@Injectable()
export class TokenBuckets implements ThrottlerStorage {
  private readonly local = new LocalBuckets();

  constructor(
    private readonly redis: RedisServer,
    private readonly settings: Settings,
  ) {
    redis.onReturn(() => void this.tellSpent());
  }

  /** Takes a token of the bucket. `owner` names the hash in which the buckets of one client stand together. */
  async charge(owner: string, bucket: string, limit: RateLimit): Promise<Charge> {
    const args = ['', bucketField(bucket), intervalOf(limit), limit.burst];
    const reply = await this.redis.attempt((redis) => CHARGE.run(redis, [clientKey(owner)], args));
    if (reply === undefined) return this.chargeLocally(owner, bucket, limit);
    return chargeOf(reply as ChargeReply, limit);
  }

  chargeLocally(owner: string, bucket: string, limit: RateLimit): Charge {
    return this.local.charge(`${owner} ${bucket}`, limit, this.settings.replicas);
  }

  /**
   * An outage gives a client one burst more, the shares of all replicas: not a second one afterwards, from a Redis that
   * comes back empty or that was filled up meanwhile.
   */
  private async tellSpent(): Promise<void> {
    await this.local.tellSpent(async (key, microseconds, capacity) => {
      const end = key.lastIndexOf(' ');
      const args = ['', bucketField(key.slice(end + 1)), microseconds, capacity];
      const told = await this.redis.attempt((redis) => SPEND.run(redis, [clientKey(key.slice(0, end))], args));
      return told !== undefined;
    });
  }

  /** For guards of @nestjs/throttler: `ttl` is the time that an empty bucket takes to fill, in milliseconds. */
  async increment(key: string, ttl: number, limit: number, _blockDuration: number, throttlerName: string) {
    const charge = await this.charge(key, throttlerName, { perMinute: (60_000 * limit) / ttl, burst: limit });
    return {
      totalHits: charge.limit - charge.remaining,
      timeToExpire: charge.secondsToFull,
      isBlocked: !charge.allowed,
      timeToBlockExpire: charge.retryAfterSeconds,
    };
  }
}

/** One hash for everything that is kept of a client. The braces keep it on one node of a cluster. */
export const clientKey = (owner: string): string => `client:{${owner}}`;
export const bucketField = (bucket: string): string => `full:${bucket}`;
