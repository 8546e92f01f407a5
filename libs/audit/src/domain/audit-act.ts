import type { ApplicationId, AssetId } from '#libs/kernel';

/** Acts that the audit records. A new entry belongs into the pages `audit.md` and `read-the-audit.md`. */
export const ACTIONS = [
  'asset.updated',
  'asset.rekeyed',
  'history.erased',
  'application.created',
  'application.enabled',
  'application.disabled',
  'application.deleted',
  'application.secret_rotated',
  'application.secret_ended',
  'application.secret_removed',
  'application.key_added',
  'application.key_removed',
  'application.trust_added',
  'application.trust_removed',
  'application.trust_replaced',
  'application.scopes_set',
  'application.limits_set',
  'person.added',
  'person.signed_in',
  'person.role_set',
  'person.removed',
  'person.erased',
  'tag_key.created',
  'tag_key.deleted',
  'source.stale_after_set',
  'import.completed',
  'inventory.exported',
  'audit.exported',
] as const;

/** Types of the entity that an act changes. */
export const TARGET_TYPES = ['ASSET', 'APPLICATION', 'TAG_KEY', 'IMPORT', 'INVENTORY', 'AUDIT', 'PERSON'] as const;

/** The sender of a change, as the audit records it. */
export type ChangeAuthor = ApplicationAuthor | PersonAuthor;

interface ApplicationAuthor {
  readonly applicationId: ApplicationId;
  readonly clientId: string;
  readonly requestId: string;
  /** SHA-256 of the Idempotency-Key, hexadecimal. */
  readonly keyHash: string;
}

/** A person who uses the console, for one request. */
export interface PersonAuthor {
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

/** Something that is not an update of an asset, as its writer tells the audit. */
export interface AuditAct {
  readonly action: (typeof ACTIONS)[number];
  /** OPERATOR is whoever uses the operators' services: a person of the console, where its recorder knows one. */
  readonly actor:
    | { readonly type: 'OPERATOR' | 'IMPORT' }
    | {
        readonly type: 'APPLICATION';
        readonly applicationId: string;
        readonly clientId: string;
        readonly keyHash?: string;
      };
  readonly target: { readonly type: (typeof TARGET_TYPES)[number]; readonly id: string };
  readonly requestId?: string;
  /** Never a secret or its digest. */
  readonly changes?: Readonly<Record<string, FieldChange>>;
}

/** Runs a statement in the writer's transaction, and returns its rows. */
export type RunStatement = (text: string, values: unknown[]) => Promise<unknown>;
