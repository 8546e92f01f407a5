import type { ServerResponse } from 'node:http';
import type { Charge } from '#libs/kernel';

/**
 * What the specification promises of limits (X-RateLimit-…, Retry-After) and, beside it, the fields that the IETF's
 * draft-ietf-httpapi-ratelimit-headers has for the same.
 */
export function setRateLimitHeaders(response: ServerResponse, rateClass: string, charge: Charge): void {
  const { limit, remaining } = charge;
  response.setHeader('X-RateLimit-Limit', limit);
  response.setHeader('X-RateLimit-Remaining', remaining);
  response.setHeader('RateLimit-Policy', `"${rateClass}";q=${limit};w=${charge.windowSeconds}`);
  response.setHeader('RateLimit', `"${rateClass}";r=${remaining};t=${charge.secondsToFull}`);
  if (!charge.allowed) response.setHeader('Retry-After', charge.retryAfterSeconds);
}

/** Takes them back from a response that must not tell of a bucket. */
export function clearRateLimitHeaders(response: ServerResponse): void {
  for (const name of ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'RateLimit-Policy', 'RateLimit']) {
    response.removeHeader(name);
  }
}
