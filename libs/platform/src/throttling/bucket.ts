import type { Charge, RateClass, RateLimit, RateLimits } from '#libs/kernel';

/** The class of a request under /v1. */
export const rateClassOf = (method: string): 'read' | 'write' =>
  method === 'GET' || method === 'HEAD' ? 'read' : 'write';

/** Returns the application's own limit of a class, or the general one. */
export const limitOf = (rateClass: RateClass, own: Partial<RateLimits>, general: RateLimits): RateLimit =>
  own[rateClass] ?? general[rateClass];

/** A token bucket holds `burst` tokens, and one comes back every `interval` microseconds. */
export interface BucketSize {
  readonly burst: number;
  readonly interval: number;
}

/** The interval is rounded down, so that a client that keeps to the sustained rate never waits. */
export const bucketSizeOf = ({ perMinute, burst }: RateLimit): BucketSize => ({
  burst,
  interval: Math.max(1, Math.floor(60_000_000 / perMinute)),
});

/** Microseconds until an empty bucket is full. */
export const microsecondsToFill = ({ burst, interval }: BucketSize): number => interval * burst;

/** The share of one of several instances that cannot ask each other. At least one token. */
export const shareOf = ({ burst, interval }: BucketSize, instances: number): BucketSize => ({
  burst: Math.max(1, Math.floor(burst / instances)),
  interval: interval * instances,
});

/**
 * A token bucket by the generic cell rate algorithm. Its only state is the time at which it will be full, in
 * microseconds; null is a full bucket. `charge-script.ts` implements the same in Lua, and tests compare the two.
 */
export function chargeBucket(
  fullAt: number | null,
  now: number,
  size: BucketSize,
): { readonly fullAt: number; readonly charge: Charge } {
  const emptyAt = now + microsecondsToFill(size);
  // At most as far ahead as an empty bucket: a clock that steps back must not lock a client out.
  const before = Math.min(Math.max(fullAt ?? now, now), emptyAt);
  const allowed = before + size.interval <= emptyAt;
  const after = allowed ? before + size.interval : before;
  return { fullAt: after, charge: toCharge(size, allowed, emptyAt - after, after - now) };
}

/** Gives the whole tokens left in a bucket, and charges nothing. `charge-script.ts` says the same in Lua. */
export function tokensLeft(fullAt: number | null, now: number, size: BucketSize): number {
  const emptyAt = now + microsecondsToFill(size);
  return Math.floor((emptyAt - Math.min(Math.max(fullAt ?? now, now), emptyAt)) / size.interval);
}

/** `spare` is the remaining tokens as time, `toFull` the missing ones, in microseconds. */
export function toCharge(size: BucketSize, allowed: boolean, spare: number, toFull: number): Charge {
  return {
    allowed,
    limit: size.burst,
    remaining: Math.floor(spare / size.interval),
    retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((size.interval - spare) / 1_000_000)),
    secondsToFull: Math.ceil(toFull / 1_000_000),
    windowSeconds: Math.ceil(microsecondsToFill(size) / 1_000_000),
  };
}
