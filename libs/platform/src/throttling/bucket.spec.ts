import type { RateLimits } from '#libs/kernel';
import {
  bucketSizeOf,
  chargeBucket,
  limitOf,
  microsecondsToFill,
  rateClassOf,
  shareOf,
  toCharge,
  tokensLeft,
} from './bucket';

const NOW = 1_780_000_000_000_000;
const SECOND = 1_000_000;

it('GET and HEAD are reads, and other methods are writes', () => {
  expect(['GET', 'HEAD', 'POST', 'PATCH', 'get'].map(rateClassOf)).toEqual(['read', 'read', 'write', 'write', 'write']);
});

it("an application's own limit replaces the general one of its class alone", () => {
  const general: RateLimits = {
    token: { perMinute: 1, burst: 2 },
    read: { perMinute: 3, burst: 4 },
    write: { perMinute: 5, burst: 6 },
  };
  const own = { read: { perMinute: 7, burst: 8 } };
  expect([limitOf('read', own, general), limitOf('write', own, general)]).toEqual([own.read, general.write]);
});

it('the size of a bucket rounds in favour of the client', () => {
  expect(bucketSizeOf({ perMinute: 60, burst: 3 })).toEqual({ burst: 3, interval: SECOND });
  expect(bucketSizeOf({ perMinute: 7, burst: 1 }).interval).toBe(8_571_428);
  expect(bucketSizeOf({ perMinute: 60_000_001, burst: 1 }).interval).toBe(1);
  expect(microsecondsToFill({ burst: 3, interval: 5 })).toBe(15);
});

it('instances share a bucket, each with at least one token', () => {
  expect(shareOf({ burst: 10, interval: 6 }, 3)).toEqual({ burst: 3, interval: 18 });
  expect(shareOf({ burst: 2, interval: 6 }, 3)).toEqual({ burst: 1, interval: 18 });
});

describe('A charge of a bucket of three', () => {
  const size = { burst: 3, interval: SECOND };

  it.each<[string, number | null, number, object]>([
    ['full', null, NOW + SECOND, { allowed: true, remaining: 2, retryAfterSeconds: 0, secondsToFull: 1 }],
    ['full since long', 0, NOW + SECOND, { allowed: true, remaining: 2, retryAfterSeconds: 0, secondsToFull: 1 }],
    [
      'with one token',
      NOW + 2 * SECOND,
      NOW + 3 * SECOND,
      { allowed: true, remaining: 0, retryAfterSeconds: 0, secondsToFull: 3 },
    ],
    [
      'a microsecond before its next token',
      NOW + 2 * SECOND + 1,
      NOW + 2 * SECOND + 1,
      { allowed: false, remaining: 0, retryAfterSeconds: 1, secondsToFull: 3 },
    ],
    [
      'empty',
      NOW + 3 * SECOND,
      NOW + 3 * SECOND,
      { allowed: false, remaining: 0, retryAfterSeconds: 1, secondsToFull: 3 },
    ],
    [
      'with a time from before the clock was set back',
      NOW + 9 * SECOND,
      NOW + 3 * SECOND,
      { allowed: false, remaining: 0, retryAfterSeconds: 1, secondsToFull: 3 },
    ],
  ])('that is %s', (_, fullAt, after, charge) => {
    expect(chargeBucket(fullAt, NOW, size)).toEqual({
      fullAt: after,
      charge: { ...charge, limit: 3, windowSeconds: 3 },
    });
  });

  it.each([
    [null, 3],
    [0, 3],
    [NOW + 1, 2],
    [NOW + SECOND, 2],
    [NOW + 3 * SECOND, 0],
    [NOW + 9 * SECOND, 0],
  ])('that will be full at %d leaves %d tokens to ask for', (fullAt, left) => {
    expect(tokensLeft(fullAt, NOW, size)).toBe(left);
  });
});

it('times are told in whole seconds, none too short', () => {
  const slow = { burst: 2, interval: 2.5 * SECOND };
  expect(toCharge(slow, false, SECOND, 4 * SECOND + 1)).toEqual({
    allowed: false,
    limit: 2,
    remaining: 0,
    retryAfterSeconds: 2,
    secondsToFull: 5,
    windowSeconds: 5,
  });
  expect(toCharge({ burst: 1, interval: 1.2 * SECOND }, true, 0, 0)).toMatchObject({
    retryAfterSeconds: 0,
    windowSeconds: 2,
  });
});
