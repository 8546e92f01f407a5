/** The request classes. Each has its own bucket (specification, Limits). */
export const RATE_CLASSES = ['token', 'read', 'write'] as const;
export type RateClass = (typeof RATE_CLASSES)[number];

/** A token bucket: tokens added each minute, and tokens it holds. Both are positive whole numbers. */
export interface RateLimit {
  readonly perMinute: number;
  readonly burst: number;
}

export type RateLimits = Readonly<Record<RateClass, RateLimit>>;

const RATE_LIMIT = /^([1-9]\d{0,8})\/([1-9]\d{0,8})$/;

/** Parses `sustained per minute/burst`, as in `50/100`. Returns null for anything else. */
export function parseRateLimit(text: string): RateLimit | null {
  const [, perMinute, burst] = RATE_LIMIT.exec(text) ?? [];
  return perMinute === undefined ? null : { perMinute: Number(perMinute), burst: Number(burst) };
}

export const formatRateLimit = ({ perMinute, burst }: RateLimit): string => `${perMinute}/${burst}`;
