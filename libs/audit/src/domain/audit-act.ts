import type { ApplicationId, AssetId } from '#libs/kernel';

/** The sender of a change, as the audit records it. */
export type ChangeAuthor = ApplicationAuthor | PersonAuthor;

interface ApplicationAuthor {
  readonly applicationId: ApplicationId;
  readonly clientId: string;
  readonly requestId: string;
  /** SHA-256 of the Idempotency-Key, hexadecimal. */
  readonly keyHash: string;
}

/** A person who uses the console. */
interface PersonAuthor {
  readonly personId: string;
  readonly requestId: string;
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

/** Something that is not an update of an asset, as its writer tells the audit (additions, section 6). */
export interface AuditAct {
  readonly action: string;
  /** OPERATOR is whoever uses the operators' services: a person of the console, where its recorder knows one. */
  readonly actor:
    | { readonly type: 'OPERATOR' | 'IMPORT' }
    | { readonly type: 'APPLICATION'; readonly applicationId: string; readonly clientId: string };
  readonly target: {
    readonly type: 'ASSET' | 'APPLICATION' | 'TAG_KEY' | 'IMPORT' | 'INVENTORY' | 'AUDIT' | 'PERSON';
    readonly id: string;
  };
  readonly requestId?: string;
  /** Never a secret or its digest. */
  readonly changes?: Readonly<Record<string, FieldChange>>;
}

/** Runs a statement in the writer's transaction, and returns its rows. */
export type RunStatement = (text: string, values: unknown[]) => Promise<unknown>;
