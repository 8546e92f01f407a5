import type { ApplicationId, AssetId } from '#libs/kernel';

/** Who makes a change: what the audit says of it beside the change itself. */
export interface ChangeAuthor {
  readonly applicationId: ApplicationId;
  readonly clientId: string;
  readonly requestId: string;
  /** SHA-256 of the Idempotency-Key, in hexadecimal digits. */
  readonly keyHash: string;
}

/** The old and new value of one field, as clients read it. */
export interface FieldChange {
  readonly old: unknown;
  readonly new: unknown;
}

/** What one update did to one asset: only the fields that differ afterwards. Never empty. */
export interface AssetChange {
  readonly assetId: AssetId;
  readonly fields: Readonly<Record<string, FieldChange>>;
}
