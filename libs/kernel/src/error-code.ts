/** Every stable code that a response can carry. The problem table has one entry for each. */
export const ERROR_CODES = [
  'validation_failed',
  'invalid_cursor',
  'unsupported_audience',
  'unsupported_grant_type',
  'invalid_request',
  'invalid_scope',
  'invalid_client',
  'token_missing',
  'token_invalid',
  'token_expired',
  'token_superseded',
  'insufficient_scope',
  'resource_not_writable',
  'not_found',
  'method_not_allowed',
  'idempotency_conflict',
  'idempotency_in_progress',
  'precondition_failed',
  'payload_too_large',
  'unsupported_media_type',
  'headers_too_large',
  'rate_limited',
  'internal_error',
  'service_unavailable',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];
