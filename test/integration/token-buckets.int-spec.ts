import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import type { RateLimit } from '#libs/kernel';
import { RedisServer, type Settings } from '#libs/platform';
import { chargeBucket, toCharge } from '../../libs/platform/src/throttling/bucket';
import { CHARGE, SPEND } from '../../libs/platform/src/throttling/charge-script';
import { LocalBuckets } from '../../libs/platform/src/throttling/local-buckets';
import { intervalOf, limitThatFills, microsecondsToFill } from '../../libs/platform/src/throttling/rate-limit';
import {
  type ChargeReply,
  TokenBuckets,
  bucketField,
  clientKey,
} from '../../libs/platform/src/throttling/token-buckets';
import { redisOfTheRun } from '../support/redis-of-the-run';

const SECOND = 1_000_000;
const chargeOf = ([allowed, spare, toFull]: ChargeReply, limit: RateLimit) =>
  toCharge(limit, allowed === 1, spare, toFull);
const START = 1_780_000_000 * SECOND;
const READ: RateLimit = { perMinute: 50, burst: 100 };

/**
 * The model, in exact whole numbers: a bucket of `burst` tokens, of which one comes back every `interval` microseconds.
 * It knows nothing of the moment at which it will be full.
 */
class Model {
  private tokens: bigint;
  private last: bigint | null = null;
  private readonly interval: bigint;

  constructor(private readonly limit: RateLimit) {
    this.interval = BigInt(intervalOf(limit));
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

  /** One bucket in Redis at a time that the test tells. */
  const inRedis = (limit: RateLimit) => {
    const owner = randomUUID();
    return async (now: number) => {
      const args = [now, bucketField('read'), intervalOf(limit), limit.burst];
      return chargeOf((await CHARGE.run(redis, [clientKey(owner)], args)) as ChargeReply, limit);
    };
  };
  const spend = async (owner: string, now: number, spent: number, limit: RateLimit) => {
    const args = [now, bucketField('read'), spent, intervalOf(limit), limit.burst];
    await SPEND.run(redis, [clientKey(owner)], args);
    return true;
  };
  const inMemory = (limit: RateLimit) => {
    let fullAt: number | null = null;
    return (now: number) => {
      const charged = chargeBucket(fullAt, now, limit);
      ({ fullAt } = charged);
      return charged.charge;
    };
  };

  it('agrees with a table of steps, in Redis and in the process', async () => {
    const limit = { perMinute: 60, burst: 3 };
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

  const limits = fc.record({
    perMinute: fc.integer({ min: 1, max: 100_000 }),
    burst: fc.integer({ min: 1, max: 5_000 }),
  });
  const pauses = fc.array(
    fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 0, max: 90 * SECOND })),
    {
      minLength: 1,
      maxLength: 60,
    },
  );

  it('agrees with an exact model, whatever the limit and the pauses between requests', async () => {
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

  it.each([
    ['Redis', inRedis],
    ['the process', inMemory],
  ])('in %s always has a token for who waits exactly Retry-After', async (_, open) => {
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
  ])('never refuses who keeps to the sustained rate (%s: %i a minute)', (_, perMinute, burst) => {
    const bucket = inMemory({ perMinute, burst });
    for (let request = 0; request < 500; request += 1) {
      const now = START + Math.round((request * 60 * SECOND) / perMinute);
      expect([request, bucket(now).allowed]).toEqual([request, true]);
    }
  });

  it('heals within two minutes after the clock was set back by an hour', async () => {
    const [redisBucket, localBucket] = [inRedis(READ), inMemory(READ)];
    for (let request = 0; request < 101; request += 1) {
      localBucket(START);
      await redisBucket(START);
    }
    const before = START - 3_600 * SECOND;
    expect([localBucket(before).allowed, (await redisBucket(before)).allowed]).toEqual([false, false]);
    const healed = before + 1.2 * SECOND;
    expect([localBucket(healed).allowed, (await redisBucket(healed)).allowed]).toEqual([true, true]);
    // Two minutes, and what the token just taken is worth.
    const full = healed + 120 * SECOND;
    expect((await redisBucket(full)).remaining).toBe(99);
  });

  it('in Redis goes by the clock that all processes share, however far apart their own are', async () => {
    const [owner, limit] = [randomUUID(), { perMinute: 1, burst: 3 }];
    const server = new RedisServer(redisOfTheRun());
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

  it('is forgotten by Redis some seconds after it is full again', async () => {
    const owner = randomUUID();
    await CHARGE.run(redis, [clientKey(owner)], ['', bucketField('read'), intervalOf(READ), READ.burst]);
    const left = await redis.pttl(clientKey(owner));
    expect(left).toBeGreaterThan(1_200);
    expect(left).toBeLessThan(12_000);
  });

  it('in Redis lacks, once, what three processes let pass of it while Redis was away, less what came back since', async () => {
    const [owner, limit, replicas] = [randomUUID(), { perMinute: 60, burst: 30 }, 3];
    let now = START;
    const processes = Array.from({ length: replicas }, () => new LocalBuckets(10, () => now));
    const remaining = async (): Promise<number> => {
      const args = [now, bucketField('read'), intervalOf(limit), limit.burst];
      return chargeOf((await CHARGE.run(redis, [clientKey(owner)], args)) as ChargeReply, limit).remaining;
    };
    const tellAll = async (heard: boolean): Promise<void> => {
      for (const process of processes) {
        await process.tellSpent(async (key, spent) => heard && spend(key, now, spent, limit));
      }
    };
    for (const process of processes) {
      for (let request = 0; request < 8; request += 1) process.charge(owner, limit, replicas);
    }
    now += 6 * SECOND;
    await tellAll(false);
    await tellAll(true);
    // 24 were spent and 6 came back; what is told again is nothing.
    expect(await remaining()).toBe(30 - 18 - 1);
    await tellAll(true);
    expect(await remaining()).toBe(30 - 18 - 2);
    processes[0]?.charge(owner, limit, replicas);
    await tellAll(true);
    expect(await remaining()).toBe(30 - 18 - 4);
  });

  it('in Redis keeps its next token where it was, however much was spent elsewhere', async () => {
    const [owner, limit] = [randomUUID(), { perMinute: 60, burst: 3 }];
    const chargeInRedis = async (now: number) => {
      const args = [now, bucketField('read'), intervalOf(limit), limit.burst];
      return chargeOf((await CHARGE.run(redis, [clientKey(owner)], args)) as ChargeReply, limit);
    };
    while ((await chargeInRedis(START)).allowed);
    for (const seconds of [0, 0.5, 0.9]) await spend(owner, START + seconds * SECOND, 9 * SECOND, limit);
    expect((await chargeInRedis(START + SECOND)).allowed).toBe(true);
    // Three tokens are there, and one stays.
    const later = START + 60 * SECOND;
    await spend(owner, later, 9 * SECOND, limit);
    expect([(await chargeInRedis(later)).allowed, (await chargeInRedis(later)).allowed]).toEqual([true, false]);
  });

  it.each(['nan', '-nan', 'much', ''])('in Redis is full where it held %p', async (other) => {
    const [owner, limit] = [randomUUID(), { perMinute: 60, burst: 3 }];
    const key = clientKey(owner);
    await redis.hset(key, bucketField('read'), other);
    await spend(owner, START, 2 * SECOND, limit);
    const args = [START, bucketField('read'), intervalOf(limit), limit.burst];
    expect(await CHARGE.run(redis, [key], args)).toEqual([1, 0, 3 * SECOND]);
  });

  it('is the same by the guard of @nestjs/throttler, which knows how long it takes to fill and not its rate', async () => {
    const server = new RedisServer(null);
    const buckets = new TokenBuckets(server, { replicas: 1 } as Settings);
    const rates = fc.integer({ min: 1, max: 999_999_999 });
    fc.assert(
      fc.property(rates, fc.integer({ min: 1, max: 999_999_999 }), (perMinute, burst) => {
        const limit = { perMinute, burst };
        const again = limitThatFills(burst, microsecondsToFill(limit) / 1_000);
        expect([intervalOf(again), again.burst]).toEqual([intervalOf(limit), burst]);
      }),
      {
        numRuns: 20_000,
        examples: [
          [33, 3_300],
          [34, 340],
          [54, 540],
          [274, 729],
        ],
      },
    );
    const limit = { perMinute: 34, burst: 340 };
    await buckets.charge('a', 'read', limit);
    const charged = await buckets.increment('a', microsecondsToFill(limit) / 1_000, limit.burst, 0, 'read');
    expect(charged).toMatchObject({ totalHits: 2, isBlocked: false });
  });

  it('of the process count whole tokens at any moment of the clock', () => {
    for (let round = 0; round < 2_000; round += 1) {
      const buckets = new LocalBuckets();
      expect([buckets.charge('a', READ).remaining, buckets.charge('a', READ).remaining]).toEqual([99, 98]);
    }
  });

  it('of the process are bounded in number: the one charged longest ago goes first', () => {
    let now = 0;
    const buckets = new LocalBuckets(2, () => now);
    const limit = { perMinute: 1, burst: 2 };
    expect(buckets.charge('a', limit).remaining).toBe(1);
    expect(buckets.charge('b', limit).remaining).toBe(1);
    expect(buckets.charge('a', limit).remaining).toBe(0);
    expect(buckets.charge('c', limit).remaining).toBe(1);
    expect(buckets.charge('a', limit).allowed).toBe(false);
    expect(buckets.charge('b', limit).remaining).toBe(1);
    now += 60 * SECOND;
    expect(buckets.charge('b', limit).allowed).toBe(true);
  });
});
