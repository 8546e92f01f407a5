import type { RateClass, RateLimit, RateLimits } from '#libs/kernel';

/** The class of a request under /v1 (decisions, section 3). */
export const rateClassOf = (method: string): 'read' | 'write' =>
  method === 'GET' || method === 'HEAD' ? 'read' : 'write';

/** The limit of a class: an application's own where it has one, else the general one. */
export const limitOf = (rateClass: RateClass, own: Partial<RateLimits>, general: RateLimits): RateLimit =>
  own[rateClass] ?? general[rateClass];

/** Microseconds between two tokens. Rounded down, so that whoever keeps to the sustained rate never waits. */
export function intervalOf({ perMinute }: RateLimit): number {
  return Math.max(1, Math.floor(60_000_000 / perMinute));
}

/** The time that an empty bucket takes to fill: what it holds. */
export const microsecondsToFill = (limit: RateLimit): number => intervalOf(limit) * limit.burst;

/** The limit of a bucket that holds so many tokens and takes so long to fill, to the microsecond between two of them. */
export function limitThatFills(burst: number, milliseconds: number): RateLimit {
  const interval = Math.round((milliseconds * 1_000) / burst);
  // The highest rate with this interval: a fraction of one could come to another.
  return { perMinute: Math.floor(60_000_000 / interval), burst };
}

/**
 * A share of a limit for one of so many replicas that cannot ask each other; at least one token. The rate is divided to the
 * fraction, so that who keeps to the sustained rate at all of them never waits at one.
 */
export function shareOf({ perMinute, burst }: RateLimit, replicas: number): RateLimit {
  return { perMinute: perMinute / replicas, burst: Math.max(1, Math.floor(burst / replicas)) };
}
