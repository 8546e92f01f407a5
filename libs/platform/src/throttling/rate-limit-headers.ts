import type { ServerResponse } from 'node:http';
import type { Charge, RateClass } from '#libs/kernel';
import type { Bucket } from '../http/request-context';

/**
 * Sets the headers of the specification (X-RateLimit-…, Retry-After) and the fields of
 * draft-ietf-httpapi-ratelimit-headers.
 */
export function setRateLimitHeaders(response: ServerResponse, rateClass: RateClass, charge: Charge): void {
  const { limit, remaining } = charge;
  setBucketHeaders(response, rateClass, charge);
  response.setHeader('RateLimit-Policy', `"${rateClass}";q=${limit};w=${charge.windowSeconds}`);
  response.setHeader('RateLimit', `"${rateClass}";r=${remaining};t=${charge.secondsToFull}`);
}

/** Sets the headers of the specification alone. The fields of the draft keep describing the class of the request. */
export function setBucketHeaders(response: ServerResponse, bucket: Bucket, charge: Charge): void {
  response.req.context.bucket = bucket;
  response.setHeader('X-RateLimit-Limit', charge.limit);
  response.setHeader('X-RateLimit-Remaining', charge.remaining);
  if (!charge.allowed) response.setHeader('Retry-After', charge.retryAfterSeconds);
}

/** Removes the headers from a response that must not describe a bucket. */
export function clearRateLimitHeaders(response: ServerResponse): void {
  for (const name of ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'RateLimit-Policy', 'RateLimit']) {
    response.removeHeader(name);
  }
}
