import type { RateLimit } from '#libs/kernel';
import { LocalBuckets } from './local-buckets';
import { microsecondsToFill } from './rate-limit';

const SECOND = 1_000_000;
const LIMIT: RateLimit = { perMinute: 60, burst: 30 };

describe('The buckets of a process', () => {
  let now: number;
  let buckets: LocalBuckets;
  beforeEach(() => {
    now = 1_000 * SECOND;
    buckets = new LocalBuckets(10, () => now);
  });
  const drain = (limit: RateLimit, replicas: number): number => {
    let passed = 0;
    while (buckets.charge('a', limit, replicas).allowed) passed += 1;
    return passed;
  };
  /** What Redis says of a bucket with so many tokens. */
  const withTokens = (tokens: number) => {
    const spare = tokens * SECOND;
    return { spare, toFull: microsecondsToFill(LIMIT) - spare };
  };
  const told = async (heard = true): Promise<number[]> => {
    const spent: number[] = [];
    await buckets.tellSpent(async (_key, microseconds) => {
      spent.push(microseconds / SECOND);
      return heard;
    });
    return spent;
  };

  it.each([
    ['full', 30, 1, 30],
    ['full', 30, 3, 10],
    ['half empty', 15, 1, 15],
    ['half empty', 15, 3, 5],
    ['all but empty: a token that is there is there for each', 1, 3, 1],
    ['empty', 0, 1, 0],
    ['empty', 0, 3, 0],
  ])('go on as Redis said that one is: %s (%d tokens, %d replicas)', (_, tokens, replicas, passed) => {
    buckets.learn('a', LIMIT, replicas, withTokens(tokens));
    expect(drain(LIMIT, replicas)).toBe(passed);
  });

  it('have the next token when Redis would have it, and then those of the share', () => {
    buckets.learn('a', LIMIT, 3, withTokens(0.25));
    now += 0.75 * SECOND - 1;
    expect(buckets.charge('a', LIMIT, 3).allowed).toBe(false);
    now += 1;
    expect([buckets.charge('a', LIMIT, 3).allowed, buckets.charge('a', LIMIT, 3).retryAfterSeconds]).toEqual([true, 3]);
  });

  it('tell Redis what was spent since it said how one is, and nothing of what it said', async () => {
    buckets.learn('a', LIMIT, 1, withTokens(10));
    expect(await told()).toEqual([]);
    buckets.charge('a', LIMIT, 1);
    buckets.charge('a', LIMIT, 1);
    expect(await told(false)).toEqual([2]);
    // An answer of Redis to a request that came before it could be told.
    buckets.learn('a', LIMIT, 1, withTokens(30));
    expect(await told()).toEqual([2]);
    expect(await told()).toEqual([]);
  });

  it('tell Redis nothing of a charge that it made late, before or after it was made here', async () => {
    buckets.chargedLate('a', LIMIT, 1);
    buckets.charge('a', LIMIT, 1);
    expect(await told()).toEqual([]);
    buckets.charge('a', LIMIT, 1);
    expect(await told()).toEqual([1]);
    for (let request = 0; request < 5; request += 1) buckets.charge('a', LIMIT, 1);
    buckets.chargedLate('a', LIMIT, 1);
    buckets.chargedLate('a', LIMIT, 1);
    expect(await told()).toEqual([3]);
  });

  it('count no late charge any more once Redis said how one is', async () => {
    for (let request = 0; request < 3; request += 1) buckets.chargedLate('a', LIMIT, 1);
    buckets.learn('a', LIMIT, 1, withTokens(10));
    buckets.charge('a', LIMIT, 1);
    expect(await told()).toEqual([1]);
  });

  it('tell Redis nothing of what it said while it was being told', async () => {
    buckets.charge('a', LIMIT, 1);
    await buckets.tellSpent(async () => {
      buckets.learn('a', LIMIT, 1, withTokens(10));
      return false;
    });
    expect(await told()).toEqual([]);
  });

  it('are told of once each, the latest first, wherever they are remembered', async () => {
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'a']) buckets.charge(key, LIMIT);
    const keys: string[] = [];
    const tellAll = () =>
      buckets.tellSpent(async (key, microseconds) => keys.push(`${key}${microseconds / SECOND}`) > 0);
    await tellAll();
    await tellAll();
    expect(keys).toEqual(['a2', 'f1', 'e1', 'd1', 'c1', 'b1']);
  });

  it('are told of also where one before was not heard, of another node of Redis, and that one again next time', async () => {
    for (const key of ['a', 'b', 'c']) buckets.charge(key, LIMIT);
    const heard: string[] = [];
    await buckets.tellSpent(async (key) => key !== 'b' && heard.push(key) > 0);
    expect(heard).toEqual(['c', 'a']);
    await buckets.tellSpent(async (key) => heard.push(key) > 0);
    expect(heard).toEqual(['c', 'a', 'b']);
  });

  it('are told of all together, however many are remembered', async () => {
    const keys = [...'abcdefghij'];
    for (const key of keys) buckets.charge(key, LIMIT);
    const tell: string[] = [];
    await buckets.tellSpent(async (key) => tell.push(key) > 0);
    expect(tell.sort()).toEqual(keys);
  });

  it('are fifty thousand at most: whoever asks by as many names as can be leaves no more behind', () => {
    const limit = { perMinute: 1, burst: 1 };
    const isRememberedAfter = (others: number): boolean => {
      buckets = new LocalBuckets();
      const isRemembered = (): boolean => !buckets.charge('a', limit).allowed;
      expect([isRemembered(), isRemembered()]).toEqual([false, true]);
      for (let n = 0; n < others; n += 1) buckets.charge(`other ${n}`, limit);
      return isRemembered();
    };
    expect([isRememberedAfter(49_999), isRememberedAfter(50_000)]).toEqual([true, false]);
  });

  it('let pass who keeps to the sustained rate at all replicas together, however long', () => {
    const replicas = 3;
    const limit = { perMinute: 5, burst: 10 };
    for (let request = 0; request < 200; request += 1) {
      expect([request, buckets.charge('a', limit, replicas).allowed]).toEqual([request, true]);
      now += Math.ceil((60 * SECOND * replicas) / limit.perMinute);
    }
  });
});
