import type { RateClass, RateLimit, RateLimits } from '#libs/kernel';

/** The class of a request under /v1 (decisions, section 3). */
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
