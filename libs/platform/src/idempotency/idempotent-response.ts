import type { ApplicationId, WorkspaceId } from '#libs/kernel';

/** The response of a successful write. A replay repeats it. */
export interface IdempotentResponse {
  readonly status: number;
  /** The body as sent, in UTF-8. */
  readonly body: string;
  readonly entityTag: string | null;
}

/** A key of one application and the request that used it. */
export interface IdempotentRequest {
  readonly workspaceId: WorkspaceId;
  readonly applicationId: ApplicationId;
  /** SHA-256 of the Idempotency-Key, hexadecimal. */
  readonly keyHash: string;
  readonly fingerprint: string;
}
