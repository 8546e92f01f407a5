import type { ApplicationId, AssetId } from '#libs/kernel';

/** The sender of a change, as the audit records it. */
export interface ChangeAuthor {
  readonly applicationId: ApplicationId;
  readonly clientId: string;
  readonly requestId: string;
  /** SHA-256 of the Idempotency-Key, hexadecimal. */
  readonly keyHash: string;
}

/** Old and new value of one field, as clients read it. */
export interface FieldChange {
  readonly old: unknown;
  readonly new: unknown;
}

/** The effect of one update on one asset: only fields that changed. Never empty. */
export interface AssetChange {
  readonly assetId: AssetId;
  readonly fields: Readonly<Record<string, FieldChange>>;
}
