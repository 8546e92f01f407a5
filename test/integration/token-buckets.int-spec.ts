import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { RedisClient } from '#libs/platform/redis';
import { type Settings } from '#libs/platform/config';
import { chargeBucket, tokensLeft } from '../../libs/platform/src/throttling/bucket';
import { CHARGE } from '../../libs/platform/src/throttling/charge-script';
import { LocalBuckets } from '../../libs/platform/src/throttling/local-buckets';
import { type BucketSize, bucketSizeOf } from '../../libs/platform/src/throttling/bucket';
import { SPARE } from '../../libs/platform/src/throttling/charge-script';
import {
  type ChargeReply,
  TokenBuckets,
  bucketField,
  chargeOf,
  clientKey,
} from '../../libs/platform/src/throttling/token-buckets';
import { redisOfTheRun } from '../support/redis-of-the-run';

const SECOND = 1_000_000;
const START = 1_780_000_000 * SECOND;
const READ = bucketSizeOf({ perMinute: 50, burst: 100 });

/**
 * A reference implementation with exact integers: a bucket of `burst` tokens, refilled by one every `interval`
 * microseconds. Unlike the real one it counts tokens.
 */
class Model {
  private tokens: bigint;
  private last: bigint | null = null;
  private readonly interval: bigint;

  constructor(private readonly limit: BucketSize) {
    this.interval = BigInt(limit.interval);
    this.tokens = BigInt(limit.burst) * this.interval;
  }

  charge(now: bigint): { allowed: boolean; remaining: number } {
    const capacity = BigInt(this.limit.burst) * this.interval;
    const elapsed = this.last === null || now < this.last ? 0n : now - this.last;
    this.tokens = this.tokens + elapsed > capacity ? capacity : this.tokens + elapsed;
    this.last = now;
    const allowed = this.tokens >= this.interval;
    if (allowed) this.tokens -= this.interval;
    return { allowed, remaining: Number(this.tokens / this.interval) };
  }
}

describe('A token bucket', () => {
  let redis: Redis;
  beforeAll(() => {
    redis = new Redis(redisOfTheRun());
  });
  afterAll(() => redis.quit());

  /** A bucket in Redis at times that the test sets. */
  const inRedis = (limit: BucketSize) => {
    const owner = randomUUID();
    return async (now: number) => {
      const args = [now, bucketField('read'), limit.interval, limit.burst];
      return chargeOf((await CHARGE.run(redis, [clientKey(owner)], args)) as ChargeReply, limit);
    };
  };
  const inMemory = (limit: BucketSize) => {
    let fullAt: number | null = null;
    return (now: number) => {
      const charged = chargeBucket(fullAt, now, limit);
      ({ fullAt } = charged);
      return charged.charge;
    };
  };

  it('follows the tables of steps, in Redis and in the process', async () => {
    const limit = bucketSizeOf({ perMinute: 60, burst: 3 });
    const steps: [seconds: number, allowed: boolean, remaining: number, retryAfter: number, toFull: number][] = [
      [0, true, 2, 0, 1],
      [0, true, 1, 0, 2],
      [0, true, 0, 0, 3],
      [0, false, 0, 1, 3],
      [0.5, false, 0, 1, 3],
      [0.999999, false, 0, 1, 3],
      [1, true, 0, 0, 3],
      [1, false, 0, 1, 3],
      [3.5, true, 1, 0, 2],
      [100, true, 2, 0, 1],
    ];
    const [redisBucket, localBucket] = [inRedis(limit), inMemory(limit)];
    for (const [seconds, allowed, remaining, retryAfterSeconds, secondsToFull] of steps) {
      const expected = { allowed, limit: 3, remaining, retryAfterSeconds, secondsToFull, windowSeconds: 3 };
      const now = START + seconds * SECOND;
      expect([seconds, localBucket(now)]).toEqual([seconds, expected]);
      expect([seconds, await redisBucket(now)]).toEqual([seconds, expected]);
    }
  });

  const limits = fc
    .record({ perMinute: fc.integer({ min: 1, max: 100_000 }), burst: fc.integer({ min: 1, max: 5_000 }) })
    .map(bucketSizeOf);
  const pauses = fc.array(
    fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 0, max: 90 * SECOND })),
    {
      minLength: 1,
      maxLength: 60,
    },
  );

  it('equals an exact model for any limit and pauses', async () => {
    await fc.assert(
      fc.asyncProperty(limits, pauses, async (limit, sequence) => {
        const model = new Model(limit);
        const [redisBucket, localBucket] = [inRedis(limit), inMemory(limit)];
        let now = START;
        for (const pause of sequence) {
          now += pause;
          const expected = model.charge(BigInt(now));
          const local = localBucket(now);
          expect(local).toMatchObject(expected);
          expect(await redisBucket(now)).toEqual(local);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('can be read without a charge, in Redis and in the process', async () => {
    await fc.assert(
      fc.asyncProperty(limits, pauses, async (limit, sequence) => {
        const [model, owner] = [new Model(limit), randomUUID()];
        let fullAt: number | null = null;
        let now = START;
        for (const pause of sequence) {
          const size = [bucketField('read'), limit.interval, limit.burst];
          const look = async () => {
            const [spare] = (await SPARE.run(redis, [clientKey(owner)], [now, ...size])) as [number];
            return [tokensLeft(fullAt, now, limit), Math.floor(spare / limit.interval)];
          };
          now += pause;
          const before = await look();
          const { remaining, allowed } = model.charge(BigInt(now));
          const left = allowed ? remaining + 1 : remaining;
          expect([before, await look()]).toEqual([
            [left, left],
            [left, left],
          ]);
          ({ fullAt } = chargeBucket(fullAt, now, limit));
          await CHARGE.run(redis, [clientKey(owner)], [now, ...size]);
        }
      }),
      { numRuns: 30 },
    );
  });

  it.each([
    ['Redis', inRedis],
    ['the process', inMemory],
  ])('in %s always has a token after exactly Retry-After', async (_, open) => {
    await fc.assert(
      fc.asyncProperty(limits, fc.integer({ min: 0, max: 1_000_000 }), async (limit, offset) => {
        const bucket = open({ ...limit, burst: Math.min(limit.burst, 5) });
        let now = START + offset;
        let charge = await bucket(now);
        while (charge.allowed) charge = await bucket((now += 7));
        now += charge.retryAfterSeconds * SECOND;
        expect((await bucket(now)).allowed).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ['token', 5, 10],
    ['read', 50, 100],
    ['write', 20, 40],
    ['odd', 7, 1],
  ])('never refuses a client at the sustained rate (%s: %i a minute)', (_, perMinute, burst) => {
    const bucket = inMemory(bucketSizeOf({ perMinute, burst }));
    for (let request = 0; request < 500; request += 1) {
      const now = START + Math.round((request * 60 * SECOND) / perMinute);
      expect([request, bucket(now).allowed]).toEqual([request, true]);
    }
  });

  it('recovers within two minutes after the clock was set back by an hour', async () => {
    const [redisBucket, localBucket] = [inRedis(READ), inMemory(READ)];
    for (let request = 0; request < 101; request += 1) {
      localBucket(START);
      await redisBucket(START);
    }
    const before = START - 3_600 * SECOND;
    expect([localBucket(before).allowed, (await redisBucket(before)).allowed]).toEqual([false, false]);
    const healed = before + 1.2 * SECOND;
    expect([localBucket(healed).allowed, (await redisBucket(healed)).allowed]).toEqual([true, true]);
    // Two minutes, and the time worth of the token just taken.
    const full = healed + 120 * SECOND;
    expect((await redisBucket(full)).remaining).toBe(99);
  });

  it("in Redis uses the shared clock, however far apart the processes' clocks are", async () => {
    const [owner, limit] = [randomUUID(), bucketSizeOf({ perMinute: 1, burst: 3 })];
    const server = new RedisClient(redisOfTheRun());
    await server.onModuleInit();
    try {
      const processes = [0, 1, 2].map(() => new TokenBuckets(server, { replicas: 3 } as Settings));
      const passed: number[] = [];
      for (const hours of [0, 1, -1, 0, 1, -1]) {
        const now = Date.now() + hours * 3_600_000;
        const clock = jest.spyOn(Date, 'now').mockReturnValue(now);
        const charges = await Promise.all(processes.map((one) => one.charge(owner, 'read', limit)));
        clock.mockRestore();
        passed.push(charges.filter(({ allowed }) => allowed).length);
        for (const { secondsToFull } of charges) expect(secondsToFull).toBeLessThanOrEqual(180);
      }
      expect(passed).toEqual([3, 0, 0, 0, 0, 0]);
    } finally {
      server.onApplicationShutdown();
    }
  });

  it('expires in Redis some seconds after it is full', async () => {
    const owner = randomUUID();
    await CHARGE.run(redis, [clientKey(owner)], ['', bucketField('read'), READ.interval, READ.burst]);
    const left = await redis.pttl(clientKey(owner));
    expect(left).toBeGreaterThan(1_200);
    expect(left).toBeLessThan(12_000);
  });

  it.each(['nan', '-nan', 'much', ''])('in Redis starts full when the key held %p', async (other) => {
    const [owner, limit] = [randomUUID(), bucketSizeOf({ perMinute: 60, burst: 3 })];
    const key = clientKey(owner);
    await redis.hset(key, bucketField('read'), other);
    const args = [START, bucketField('read'), limit.interval, limit.burst];
    expect(await CHARGE.run(redis, [key], args)).toEqual([1, 2 * SECOND, SECOND]);
  });

  it('matches the terms of @nestjs/throttler: one token every `ttl` milliseconds', async () => {
    const buckets = new TokenBuckets(new RedisClient(null), { replicas: 1 } as Settings);
    for (const perMinute of [7, 34, 54, 274, 999_999]) {
      const limit = bucketSizeOf({ perMinute, burst: 340 });
      const direct = await buckets.charge('direct', `${perMinute}`, limit);
      const charged = await buckets.increment('guard', limit.interval / 1_000, limit.burst, 0, `${perMinute}`);
      expect(charged).toEqual({
        totalHits: 1,
        isBlocked: false,
        timeToExpire: direct.secondsToFull,
        timeToBlockExpire: 0,
      });
    }
  });

  it.each([
    ['in Redis', () => redisOfTheRun()],
    ['in the process', () => null],
  ])('%s takes a token back, and never more than it holds', async (_, address) => {
    const [owner, limit] = [randomUUID(), bucketSizeOf({ perMinute: 1, burst: 2 })];
    const client = new RedisClient(address());
    await client.onModuleInit();
    try {
      const buckets = new TokenBuckets(client, { replicas: 1 } as Settings);
      const allowed = async (): Promise<boolean> => (await buckets.charge(owner, 'read', limit)).allowed;

      await buckets.giveBack(owner, 'read', limit);
      expect([await allowed(), await allowed(), await allowed()]).toEqual([true, true, false]);
      for (let times = 0; times < 5; times += 1) await buckets.giveBack(owner, 'read', limit);

      expect([await allowed(), await allowed(), await allowed()]).toEqual([true, true, false]);
    } finally {
      client.onApplicationShutdown();
    }
  });

  it('in the process counts whole tokens at any moment', () => {
    for (let round = 0; round < 2_000; round += 1) {
      const buckets = new LocalBuckets();
      expect([buckets.charge('a', READ).remaining, buckets.charge('a', READ).remaining]).toEqual([99, 98]);
    }
  });

  it('in the process starts full with the share of one of many instances, and lives on', () => {
    let now = 0;
    const buckets = new LocalBuckets(10, () => now);
    const limit = bucketSizeOf({ perMinute: 60, burst: 30 });
    const drain = (): number => {
      let passed = 0;
      while (buckets.charge('a', limit, 3).allowed) passed += 1;
      return passed;
    };
    expect([drain(), drain()]).toEqual([10, 0]);
    // A third of a token a second.
    now += 6 * SECOND;
    expect([drain(), drain()]).toEqual([2, 0]);
  });

  it('in the process accepts a client at the sustained rate over all instances together', () => {
    let now = 0;
    const buckets = new LocalBuckets(10, () => now);
    for (let request = 0; request < 200; request += 1) {
      const { allowed } = buckets.charge('a', bucketSizeOf({ perMinute: 5, burst: 10 }), 3);
      expect([request, allowed]).toEqual([request, true]);
      now += 36 * SECOND;
    }
  });

  it('in the process is one of fifty thousand at most, and the oldest charge is dropped first', () => {
    const limit = bucketSizeOf({ perMinute: 1, burst: 1 });
    const isKnownAfter = (others: number): boolean => {
      const buckets = new LocalBuckets();
      const isKnown = (): boolean => !buckets.charge('a', limit).allowed;
      expect([isKnown(), isKnown()]).toEqual([false, true]);
      for (let n = 0; n < others; n += 1) buckets.charge(`other ${n}`, limit);
      return isKnown();
    };
    expect([isKnownAfter(24_999), isKnownAfter(50_000)]).toEqual([true, false]);
  });
});
