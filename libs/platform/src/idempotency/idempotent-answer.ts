import type { ApplicationId, WorkspaceId } from '#libs/kernel';

/** The answer of a write that succeeded: what a replay repeats. */
export interface IdempotentAnswer {
  readonly status: number;
  /** The body as it is sent in UTF-8. */
  readonly body: string;
  readonly entityTag: string | null;
}

/** A key of one application, and the request that came with it. */
export interface IdempotentRequest {
  readonly workspaceId: WorkspaceId;
  readonly applicationId: ApplicationId;
  /** SHA-256 of the Idempotency-Key, hexadecimal. */
  readonly keyHash: string;
  readonly fingerprint: string;
}
