import type { Grant } from './grant';

/** A way in which the application proves itself. */
export interface Credential {
  readonly type: 'SECRET' | 'KEY' | 'TRUST';
  /** `current` or `previous` of a secret, the `kid` of a key, the id of a trust. The previous secret is accepted until it expires. */
  readonly id: string;
  /** Null where the secret is older than this record. */
  readonly createdAt: Date | null;
  /** When a token was last issued for it. Null when that is unknown or never happened. */
  readonly lastUsedAt: Date | null;
  /** Null but for the previous secret. */
  readonly expiresAt: Date | null;
}

/** An application of a workspace, with its client id, secret and granted scopes. */
export interface Application extends Grant {
  readonly name: string;
  readonly issuedAt: Date | null;
  readonly createdAt: Date;
  readonly previousSecretExpiresAt: Date | null;
  /** Those that are accepted now. */
  readonly credentials: readonly Credential[];
}

/** What an application may do, with its name and its workspace's. */
export interface ApplicationInWorkspace extends Grant {
  readonly name: string;
  readonly workspaceSlug: string;
}
