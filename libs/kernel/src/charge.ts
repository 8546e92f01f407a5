import { DomainError } from './domain-error';

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
