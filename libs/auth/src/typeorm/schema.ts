import type { SchemaPart } from '#libs/platform/database';
import { ApplicationRow } from './application.row';
import { WorkspacesAndApplications1780000000001 } from './migrations/1780000000001-workspaces-and-applications';
import { WorkspaceRow } from './workspace.row';

export const authSchema: SchemaPart = {
  entities: [WorkspaceRow, ApplicationRow],
  migrations: [WorkspacesAndApplications1780000000001],
  grants: [
    { table: 'workspace', privileges: 'SELECT' },
    { table: 'application', privileges: 'SELECT, UPDATE (generation, jti, issued_at)' },
  ],
};
