import type { SchemaPart } from '#libs/platform/database';
import { WorkspacesAndApplications1780000000001 } from './migrations/1780000000001-workspaces-and-applications';

export const authSchema: SchemaPart = {
  migrations: [WorkspacesAndApplications1780000000001],
  grants: [
    { table: 'workspace', privileges: 'SELECT' },
    { table: 'application', privileges: 'SELECT, UPDATE (generation, jti, issued_at)' },
  ],
};
