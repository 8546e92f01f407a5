import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import type { Charge, RateLimit } from '#libs/kernel';
import { Settings } from '../config/settings';
import type { RedisClient } from '../redis/redis-client';
import { RedisServer } from '../redis/redis-server';
import { toCharge } from './bucket';
import { CHARGE, SPEND } from './charge-script';
import { LocalBuckets } from './local-buckets';
import { intervalOf, limitThatFills, shareOf } from './rate-limit';

/** What the script gives: allowed, microseconds' worth of tokens left, microseconds to full. */
export type ChargeReply = readonly [number, number, number];

/**
 * Token buckets that all replicas share in Redis. While it is away each has its own, with its share of the limit: never
 * without a limit, never closed, and never an error because of the limiter itself (decisions, section 3).
 */
@Injectable()
export class TokenBuckets implements ThrottlerStorage {
  private readonly local = new LocalBuckets();
  /** When Redis answered again the last time, in milliseconds. */
  private returnedAt = -Infinity;

  constructor(
    private readonly redis: RedisServer,
    private readonly settings: Settings,
  ) {
    redis.onReturn(() => {
      this.returnedAt = performance.now();
      void this.tellSpent();
    });
  }

  /**
   * Takes a token of the bucket. `owner` names the hash in which the buckets of one client stand together. `send` may send
   * a script that does more beside, and gives the same.
   */
  async charge(owner: string, bucket: string, limit: RateLimit, send = sendCharge): Promise<Charge> {
    const args = ['', bucketField(bucket), intervalOf(limit), limit.burst];
    const reply = await this.redis.attempt(
      (redis) => send(redis, args, owner),
      (late) => this.chargedLate(owner, bucket, limit, late as ChargeReply),
    );
    if (reply === undefined) return this.chargeLocally(owner, bucket, limit);
    return this.charged(owner, bucket, limit, reply as ChargeReply);
  }

  /** What a script of ours that charged a bucket says came of it. Should Redis be away next, it is gone on from here. */
  charged(owner: string, bucket: string, limit: RateLimit, [allowed, spare, toFull]: ChargeReply): Charge {
    this.local.learn(localKey(owner, bucket), limit, this.settings.replicas, { spare, toFull });
    const charge = toCharge(limit, allowed === 1, spare, toFull);
    if (charge.allowed) return charge;
    // Replicas may have spent theirs just before, and Redis may go away again.
    const justReturned = performance.now() < this.returnedAt + this.longestWait(limit) * 1_000;
    return justReturned ? this.anywhere(charge, limit) : charge;
  }

  /** The same where it says so too late: the request is charged here instead, and Redis is not told of it. */
  chargedLate(owner: string, bucket: string, limit: RateLimit, [allowed]: ChargeReply): void {
    if (allowed === 1) this.local.chargedLate(localKey(owner, bucket), limit, this.settings.replicas);
  }

  private chargeLocally(owner: string, bucket: string, limit: RateLimit): Charge {
    const { replicas } = this.settings;
    const charge = this.local.charge(localKey(owner, bucket), limit, replicas);
    return this.redis.isConfigured || replicas > 1 ? this.anywhere(charge, limit) : charge;
  }

  /** Has a client wait until it finds a token wherever it is charged next: in Redis, or at whichever replica. */
  private anywhere(charge: Charge, limit: RateLimit): Charge {
    if (charge.allowed) return charge;
    return { ...charge, retryAfterSeconds: Math.max(charge.retryAfterSeconds, this.longestWait(limit)) };
  }

  /** Whole seconds in which a token comes into any bucket: those of replicas fill up more slowly than that of Redis. */
  private longestWait(limit: RateLimit): number {
    return Math.ceil(intervalOf(shareOf(limit, this.settings.replicas)) / 1_000_000);
  }

  /**
   * An outage gives a client one burst more, the shares of all replicas: not a second one afterwards, from a Redis that
   * comes back empty or that was filled up meanwhile.
   */
  private async tellSpent(): Promise<void> {
    await this.local.tellSpent(async (key, microseconds, limit) => {
      const end = key.lastIndexOf(' ');
      const args = ['', bucketField(key.slice(end + 1)), microseconds, intervalOf(limit), limit.burst];
      const told = await this.redis.attempt((redis) => SPEND.run(redis, [clientKey(key.slice(0, end))], args));
      if (told !== undefined) return true;
      // The next one may be of another node, that is back. Of one that is away it is known at once, thousands of times.
      await setImmediate();
      return false;
    });
  }

  /** For guards of @nestjs/throttler: `ttl` is the time that an empty bucket takes to fill, in milliseconds. */
  async increment(key: string, ttl: number, limit: number, _blockDuration: number, throttlerName: string) {
    const charge = await this.charge(key, throttlerName, limitThatFills(limit, ttl));
    return {
      totalHits: charge.limit - charge.remaining,
      timeToExpire: charge.secondsToFull,
      isBlocked: !charge.allowed,
      timeToBlockExpire: charge.retryAfterSeconds,
    };
  }
}

/** Sends {@link CHARGE}, or a script that takes these arguments first. */
type SendCharge = (redis: RedisClient, args: readonly (string | number)[], owner: string) => Promise<unknown>;

const sendCharge: SendCharge = (redis, args, owner) => CHARGE.run(redis, [clientKey(owner)], args);

/** One hash for everything that is kept of a client. The braces keep it on one node of a cluster. */
export const clientKey = (owner: string): string => `client:{${owner}}`;
export const bucketField = (bucket: string): string => `full:${bucket}`;
const localKey = (owner: string, bucket: string): string => `${owner} ${bucket}`;
