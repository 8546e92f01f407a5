import type { ErrorCode } from './error-code';

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
