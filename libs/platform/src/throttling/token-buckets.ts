import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import type { Charge } from '#libs/kernel';
import { Settings } from '../config/settings';
import { RedisClient } from '../redis/redis-client';
import { type BucketSize, toCharge } from './bucket';
import { CHARGE, GIVE_BACK, SPARE } from './charge-script';
import { LocalBuckets } from './local-buckets';

/** The reply of a charge script: allowed (1 or 0), remaining tokens in microseconds, microseconds to full. */
export type ChargeReply = readonly [number, number, number];

/**
 * Token buckets that all instances share in Redis. While Redis is away each instance uses its own buckets with its
 * share of the limit. So a limit always applies, and the limiter itself never fails a request.
 */
@Injectable()
export class TokenBuckets implements ThrottlerStorage {
  private readonly local = new LocalBuckets();

  constructor(
    private readonly redis: RedisClient,
    private readonly settings: Settings,
  ) {}

  /** Charges one request to a bucket. `owner` names the hash that holds all buckets of one client. */
  async charge(owner: string, bucket: string, size: BucketSize): Promise<Charge> {
    const args = ['', bucketField(bucket), size.interval, size.burst];
    const reply = await this.redis.attempt((redis) => CHARGE.run(redis, [clientKey(owner)], args));
    if (reply !== undefined) return chargeOf(reply as ChargeReply, size);
    return this.local.charge(`${owner} ${bucket}`, size, this.settings.replicas);
  }

  /** Puts a token that was charged back, for a request that turned out to be free. */
  async giveBack(owner: string, bucket: string, size: BucketSize): Promise<void> {
    const args = [bucketField(bucket), size.interval];
    const reply = await this.redis.attempt((redis) => GIVE_BACK.run(redis, [clientKey(owner)], args));
    if (reply === undefined) this.local.giveBack(`${owner} ${bucket}`, size, this.settings.replicas);
  }

  /** Gives the whole tokens left in buckets of one client, in the order of `buckets`, and charges nothing. */
  async tokensLeft(
    owner: string,
    buckets: readonly (readonly [bucket: string, size: BucketSize])[],
  ): Promise<number[]> {
    const args = buckets.flatMap(([bucket, { interval, burst }]) => [bucketField(bucket), interval, burst]);
    const reply = await this.redis.attempt((redis) => SPARE.run(redis, [clientKey(owner)], ['', ...args]));
    const spare = reply as readonly number[] | undefined;
    return buckets.map(([bucket, size], index) =>
      spare
        ? Math.floor((spare[index] ?? 0) / size.interval)
        : this.local.tokensLeft(`${owner} ${bucket}`, size, this.settings.replicas),
    );
  }

  /** For guards of @nestjs/throttler: the bucket holds `limit` tokens, and one comes back every `ttl` milliseconds. */
  async increment(key: string, ttl: number, limit: number, _blockDuration: number, throttlerName: string) {
    const charge = await this.charge(key, throttlerName, { burst: limit, interval: Math.round(ttl * 1_000) });
    return {
      totalHits: charge.limit - charge.remaining,
      timeToExpire: charge.secondsToFull,
      isBlocked: !charge.allowed,
      timeToBlockExpire: charge.retryAfterSeconds,
    };
  }
}

/** Reads the reply of a script that charged a bucket of this size. */
export const chargeOf = ([allowed, spare, toFull]: ChargeReply, size: BucketSize): Charge =>
  toCharge(size, allowed === 1, spare, toFull);

/** One hash for all state of a client. The braces keep it on one node of a cluster. */
export const clientKey = (owner: string): string => `client:{${owner}}`;
export const bucketField = (bucket: string): string => `full:${bucket}`;
