import { DomainError } from './domain-error';

/** The request classes. Each has its own bucket (specification, Limits). */
export const RATE_CLASSES = ['token', 'read', 'write'] as const;
export type RateClass = (typeof RATE_CLASSES)[number];

/** A token bucket: tokens added each minute, and tokens it holds. Both are positive whole numbers. */
export interface RateLimit {
  readonly perMinute: number;
  readonly burst: number;
}

export type RateLimits = Readonly<Record<RateClass, RateLimit>>;

/** Tells what {@link parseRateLimit} takes. */
export const RATE_LIMIT_RULE = '<sustained per minute>/<burst>, as in 50/100, each from 1 to 999,999,999';
const RATE_LIMIT = /^([1-9]\d{0,8})\/([1-9]\d{0,8})$/;

/** Returns null for a text that breaks {@link RATE_LIMIT_RULE}. */
export function parseRateLimit(text: string): RateLimit | null {
  const [, perMinute, burst] = RATE_LIMIT.exec(text) ?? [];
  return perMinute === undefined ? null : { perMinute: Number(perMinute), burst: Number(burst) };
}

export const formatRateLimit = ({ perMinute, burst }: RateLimit): string => `${perMinute}/${burst}`;

/** The result of charging one request to a token bucket. */
export interface Charge {
  /** True when the bucket had a token for the request. */
  readonly allowed: boolean;
  /** Tokens in a full bucket. */
  readonly limit: number;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Whole seconds to the next token, at least 1; 0 when the request was allowed. */
  readonly retryAfterSeconds: number;
  /** Whole seconds until the bucket is full again. */
  readonly secondsToFull: number;
  /** Whole seconds that an empty bucket takes to fill. */
  readonly windowSeconds: number;
}

/** A bucket had no token for the request. */
export class RateLimited extends DomainError {
  constructor(readonly charge: Charge) {
    super('rate_limited', `Too many requests. Try again in ${charge.retryAfterSeconds} s.`);
  }
}
