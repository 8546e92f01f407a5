import type { SchemaPart } from '#libs/platform/database';
import { ApplicationRow } from './application.row';
import { EndedGeneration1780000000080 } from './migrations/1780000000080-ended-generation';
import { WorkspacesAndApplications1780000000001 } from './migrations/1780000000001-workspaces-and-applications';
import { WorkspaceRow } from './workspace.row';

export const authSchema: SchemaPart = {
  entities: [WorkspaceRow, ApplicationRow],
  migrations: [WorkspacesAndApplications1780000000001, EndedGeneration1780000000080],
  grants: [
    { table: 'workspace', privileges: 'SELECT' },
    { table: 'application', privileges: 'SELECT, UPDATE (generation, jti, issued_at)' },
  ],
};
