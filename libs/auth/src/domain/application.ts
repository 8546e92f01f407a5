import type { Grant } from './grant';
import type { Workspace } from './workspace';

/** An application of a workspace, with its client id, secret and granted scopes. */
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
