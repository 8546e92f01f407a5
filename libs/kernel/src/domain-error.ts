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
  'export_in_progress',
  'cursor_expired',
  'precondition_failed',
  'payload_too_large',
  'unsupported_media_type',
  'headers_too_large',
  'rate_limited',
  'internal_error',
  'service_unavailable',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/**
 * One invalid input. Exactly one of `pointer` (RFC 6901, into the body), `parameter` (query or path) and `header` names
 * it.
 */
export interface InputFault {
  readonly pointer?: string;
  readonly parameter?: string;
  readonly header?: string;
  /** The fault for programs: `required`, `unknown`, `ambiguous`, `duplicated`, `format`, `length`, `range`, `choice`, `readonly`. */
  readonly code: string;
  /** The fault for people. */
  readonly detail: string;
}

/**
 * A refusal by a rule of the domain. The problem table turns its code into a response; only the code, the detail and
 * the faults are sent.
 */
export class DomainError extends Error {
  constructor(
    readonly code: ErrorCode,
    /** Shown to the client: must hold no secrets, no SQL and no paths of the host. */
    readonly detail: string,
    readonly faults: readonly InputFault[] = [],
  ) {
    super(detail);
    this.name = new.target.name;
  }
}
