import type { SchemaPart } from '#libs/platform/database';
import { ApplicationRow } from './application.row';
import { EndedGeneration1780000000080 } from './migrations/1780000000080-ended-generation';
import { WorkspacesAndApplications1780000000001 } from './migrations/1780000000001-workspaces-and-applications';
import { SecretUses1780000000081 } from './migrations/1780000000081-secret-uses';
import { WorkspaceRow } from './workspace.row';

/** Columns that a token request writes. */
const ISSUED = 'generation, jti, issued_at, secret_last_used_at, previous_secret_last_used_at';

export const authSchema: SchemaPart = {
  entities: [WorkspaceRow, ApplicationRow],
  migrations: [WorkspacesAndApplications1780000000001, EndedGeneration1780000000080, SecretUses1780000000081],
  grants: [
    { table: 'workspace', privileges: 'SELECT' },
    { table: 'application', privileges: `SELECT, UPDATE (${ISSUED})` },
  ],
};
