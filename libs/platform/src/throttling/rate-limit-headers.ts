import type { ServerResponse } from 'node:http';
import type { Charge } from '#libs/kernel';

/**
 * Sets the headers of the specification (X-RateLimit-…, Retry-After) and the fields of
 * draft-ietf-httpapi-ratelimit-headers.
 */
export function setRateLimitHeaders(response: ServerResponse, rateClass: string, charge: Charge): void {
  const { limit, remaining } = charge;
  response.setHeader('X-RateLimit-Limit', limit);
  response.setHeader('X-RateLimit-Remaining', remaining);
  response.setHeader('RateLimit-Policy', `"${rateClass}";q=${limit};w=${charge.windowSeconds}`);
  response.setHeader('RateLimit', `"${rateClass}";r=${remaining};t=${charge.secondsToFull}`);
  if (!charge.allowed) response.setHeader('Retry-After', charge.retryAfterSeconds);
}

/** Removes the headers from a response that must not describe a bucket. */
export function clearRateLimitHeaders(response: ServerResponse): void {
  for (const name of ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'RateLimit-Policy', 'RateLimit']) {
    response.removeHeader(name);
  }
}
