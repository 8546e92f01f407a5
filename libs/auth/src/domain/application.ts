import type { Grant } from './grant';

/** An application of a workspace, with its client id, secret and granted scopes. */
export interface Application extends Grant {
  readonly name: string;
  readonly issuedAt: Date | null;
  readonly createdAt: Date;
  readonly previousSecretExpiresAt: Date | null;
}

/** What an application may do, with its name and its workspace's. */
export interface ApplicationInWorkspace extends Grant {
  readonly name: string;
  readonly workspaceSlug: string;
}
