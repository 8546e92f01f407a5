import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type Charge, DomainError, RateLimited } from '#libs/kernel';
import type { Response } from 'express';
import { Settings } from '../config/settings';
import { RedisClient } from '../redis/redis-client';
import { RedisScript } from '../redis/redis-commands';
import { bucketSizeOf } from '../throttling/bucket';
import { CHARGE_LUA, NOW_LUA } from '../throttling/charge-script';
import { setBucketHeaders } from '../throttling/rate-limit-headers';
import { type ChargeReply, TokenBuckets, bucketField, chargeOf, clientKey } from '../throttling/token-buckets';

const BUCKET = 'export';
/** The place of a killed instance is free after this long (specification: within five seconds). */
const LEASE_MS = 4_000;
const RENEWAL_MS = 1_000;

/**
 * Takes the place of a client and a token of its bucket, or neither. Replies nothing when the place is taken, and
 * otherwise as a charge does.
 *
 * KEYS: the client's hash, the place. ARGV: '', the bucket's field, microseconds between tokens, tokens of a full bucket,
 * the holder, milliseconds of the lease.
 */
const TAKE_PLACE = new RedisScript(`
  ${NOW_LUA}
  ${CHARGE_LUA}
  -- A place with more time left than a lease was taken before the clock was set back.
  local left = redis.call('PTTL', KEYS[2])
  if left > 0 and left <= tonumber(ARGV[6]) then return false end
  local charged = charge(ARGV[2], now, tonumber(ARGV[3]), tonumber(ARGV[4]))
  if charged[1] == 1 then redis.call('SET', KEYS[2], ARGV[5], 'PX', ARGV[6]) end
  return charged`);

/** Extends the lease, also one that Redis has lost. KEYS: the place. ARGV: the holder, milliseconds of the lease. */
const KEEP_PLACE = new RedisScript(`
  local holder = redis.call('GET', KEYS[1])
  if holder and holder ~= ARGV[1] then return 0 end
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 1`);

/** KEYS: the place. ARGV: the holder. */
const LEAVE_PLACE = new RedisScript(`
  if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
  return 0`);

/** The application already reads a stream. */
export class StreamInProgress extends DomainError {
  constructor() {
    super('export_in_progress', 'This application already reads a stream. It can read one at a time.');
  }
}

/**
 * The one stream at a time of each application. All instances share a lease in Redis for each place. While Redis is away
 * each instance has places of its own.
 */
@Injectable()
export class StreamPlaces {
  /** The responses that have places here, by application. */
  private readonly takenHere = new Map<string, Response>();

  constructor(
    private readonly redis: RedisClient,
    private readonly buckets: TokenBuckets,
    private readonly settings: Settings,
  ) {}

  /**
   * Takes the client's place here, reads, then takes the place on all instances and charges the bucket of streams. A read
   * waits for its turn, and many of one application would hold up all others. Returns what was read, and the function that
   * gives the place back: null for a HEAD, and for a client that left, which keep none.
   * @throws `export_in_progress` and errors of `read`, which cost nothing, or `rate_limited`
   */
  async take<First>(
    clientId: string,
    response: Response,
    read: () => Promise<First>,
  ): Promise<First & { readonly leavePlace: (() => void) | null }> {
    if (this.takenHere.has(clientId)) throw new StreamInProgress();
    this.takenHere.set(clientId, response);
    const leaveHere = (): void => {
      if (this.takenHere.get(clientId) === response) this.takenHere.delete(clientId);
    };
    // The client may leave while it waits.
    response.once('close', leaveHere);
    let leavePlace: (() => void) | null = null;
    try {
      const first = await read();
      const goesOn = response.req.method !== 'HEAD' && !response.closed;
      if (goesOn) leavePlace = await this.takeEverywhere(clientId, response);
      return { ...first, leavePlace };
    } finally {
      if (leavePlace === null) leaveHere();
    }
  }

  private async takeEverywhere(clientId: string, response: Response): Promise<() => void> {
    const holder = randomUUID();
    const charge = await this.charge(clientId, holder);
    if (!charge.allowed) {
      setBucketHeaders(response, BUCKET, charge);
      throw new RateLimited(charge);
    }
    return this.keep(clientId, holder);
  }

  private async charge(clientId: string, holder: string): Promise<Charge> {
    const size = bucketSizeOf(this.settings.exportLimit);
    const keys = [clientKey(clientId), placeKey(clientId)];
    const args = ['', bucketField(BUCKET), size.interval, size.burst, holder, LEASE_MS];
    const reply = await this.redis.attempt((redis) => TAKE_PLACE.run(redis, keys, args));
    if (reply === null) throw new StreamInProgress();
    if (reply === undefined) return this.buckets.charge(clientId, BUCKET, size);
    return chargeOf(reply as ChargeReply, size);
  }

  private keep(clientId: string, holder: string): () => void {
    const keys = [placeKey(clientId)];
    const renewal = setInterval(() => {
      void this.redis.attempt((redis) => KEEP_PLACE.run(redis, keys, [holder, LEASE_MS]));
    }, RENEWAL_MS).unref();
    return () => {
      clearInterval(renewal);
      void this.redis.attempt((redis) => LEAVE_PLACE.run(redis, keys, [holder]));
    };
  }
}

/** On the same node of a cluster as the buckets. */
const placeKey = (clientId: string): string => `${clientKey(clientId)}:export`;
