import type { SchemaPart } from '#libs/platform/database';
import { ApplicationKeyRow } from './application-key.row';
import { ApplicationTrustRow } from './application-trust.row';
import { ApplicationRow } from './application.row';
import { ClientKeys1780000000100 } from './migrations/1780000000100-client-keys';
import { EndedGeneration1780000000080 } from './migrations/1780000000080-ended-generation';
import { HistoryBegin1780000000095 } from './migrations/1780000000095-history-begin';
import { WorkspacesAndApplications1780000000001 } from './migrations/1780000000001-workspaces-and-applications';
import { SecretUses1780000000081 } from './migrations/1780000000081-secret-uses';
import { UsedAssertionRow } from './used-assertion.row';
import { WorkspaceRow } from './workspace.row';

/** Columns that a token request writes. */
const ISSUED = 'generation, jti, issued_at, secret_last_used_at, previous_secret_last_used_at';

/** Columns that the console's pages change. */
const OF_SECRETS =
  'secret_digest, secret_created_at, secret_last_used_at, previous_secret_digest, previous_secret_expires_at, ' +
  'previous_secret_created_at, previous_secret_last_used_at';
const ADMINISTERED = `scopes, limits, disabled, generation, ended_generation, ${OF_SECRETS}`;

export const authSchema: SchemaPart = {
  entities: [WorkspaceRow, ApplicationRow, ApplicationKeyRow, ApplicationTrustRow, UsedAssertionRow],
  migrations: [
    WorkspacesAndApplications1780000000001,
    EndedGeneration1780000000080,
    SecretUses1780000000081,
    HistoryBegin1780000000095,
    ClientKeys1780000000100,
  ],
  grants: [
    { table: 'workspace', privileges: 'SELECT' },
    { table: 'application', privileges: `SELECT, UPDATE (${ISSUED})` },
    { table: 'application_key', privileges: 'SELECT, UPDATE (last_used_at)' },
    { table: 'application_trust', privileges: 'SELECT, UPDATE (last_used_at)' },
    { table: 'used_assertion', privileges: 'SELECT, INSERT, UPDATE (expires_at), DELETE' },
    { function: 'claim_trusted_issuers' },
    { function: 'settle_trusted_issuer' },
    { function: 'ages_of_trusted_keys' },
  ],
  consoleGrants: [
    { table: 'workspace', privileges: 'SELECT' },
    { table: 'application', privileges: `SELECT, INSERT, UPDATE (${ADMINISTERED})` },
    { table: 'application_key', privileges: 'SELECT, INSERT, DELETE' },
    { table: 'application_trust', privileges: 'SELECT, INSERT, DELETE' },
  ],
};
