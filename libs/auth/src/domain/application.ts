import type { ApplicationId, WorkspaceId } from '#libs/kernel';

/** What an application holds: a client id, a secret and the scopes it was given, within one workspace. */
export interface Application {
  readonly id: ApplicationId;
  readonly workspaceId: WorkspaceId;
  readonly clientId: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly limits: Readonly<Record<string, unknown>>;
  readonly disabled: boolean;
  /** Rises with every token; only the token of the newest generation is accepted. */
  readonly generation: bigint;
  readonly issuedAt: Date | null;
  readonly createdAt: Date;
  readonly previousSecretExpiresAt: Date | null;
}

/** What a secret is compared with. */
export interface ApplicationSecrets {
  readonly digest: Buffer;
  /** The secret before the last rotation, with the time from which it is refused. */
  readonly previous: { readonly digest: Buffer; readonly expiresAt: Date } | null;
}
