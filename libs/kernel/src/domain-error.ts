import type { ErrorCode } from './error-code';

/**
 * One particular input that is at fault. Exactly one of `pointer` (RFC 6901, into the body), `parameter` (query or path)
 * and `header` names it.
 */
export interface InputFault {
  readonly pointer?: string;
  readonly parameter?: string;
  readonly header?: string;
  /** What is wrong with it, for programs: `required`, `unknown`, `duplicated`, `format`, `length`, `range`, `choice`, `readonly`. */
  readonly code: string;
  /** What is wrong with it, for people. */
  readonly detail: string;
}

/** Something that a rule of the domain refuses. One table turns its code into a problem; nothing else is sent. */
export class DomainError extends Error {
  constructor(
    readonly code: ErrorCode,
    /** For the client's eyes: no secrets, no SQL, no paths of the host. */
    readonly detail: string,
    readonly faults: readonly InputFault[] = [],
  ) {
    super(detail);
    this.name = new.target.name;
  }
}
