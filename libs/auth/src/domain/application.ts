import type { Grant } from './grant';
import type { Workspace } from './workspace';

/** What an application holds: a client id, a secret and the scopes it was given, within one workspace. */
export interface Application extends Grant {
  readonly name: string;
  readonly issuedAt: Date | null;
  readonly createdAt: Date;
  readonly previousSecretExpiresAt: Date | null;
}

/** An application and the workspace that it belongs to. */
export interface ApplicationInWorkspace {
  readonly application: Application;
  readonly workspace: Workspace;
}
