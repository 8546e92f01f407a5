import type { Charge, RateLimit } from '#libs/kernel';
import { microsecondsToFill, intervalOf } from './rate-limit';

/**
 * A token bucket by the generic cell rate algorithm: all it remembers is the moment at which it will be full, in
 * microseconds. `fullAt` null is a full bucket. What `charge-script.ts` says in Redis' language; tests hold the two together.
 */
export function chargeBucket(
  fullAt: number | null,
  now: number,
  limit: RateLimit,
): { readonly fullAt: number; readonly charge: Charge } {
  const interval = intervalOf(limit);
  const emptyAt = now + microsecondsToFill(limit);
  // Never further ahead than an empty bucket takes: a clock that steps back must not lock anybody out for longer.
  const before = Math.min(Math.max(fullAt ?? now, now), emptyAt);
  const allowed = before + interval <= emptyAt;
  const after = allowed ? before + interval : before;
  return { fullAt: after, charge: toCharge(limit, allowed, emptyAt - after, after - now) };
}

/** `spare` is the time worth of tokens that are left, `toFull` that of those that are missing, in microseconds. */
export function toCharge(limit: RateLimit, allowed: boolean, spare: number, toFull: number): Charge {
  const interval = intervalOf(limit);
  return {
    allowed,
    limit: limit.burst,
    remaining: Math.floor(spare / interval),
    retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((interval - spare) / 1_000_000)),
    secondsToFull: Math.ceil(toFull / 1_000_000),
    windowSeconds: Math.ceil(microsecondsToFill(limit) / 1_000_000),
  };
}
