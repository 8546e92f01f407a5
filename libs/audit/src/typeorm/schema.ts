import type { SchemaPart } from '#libs/platform/database';
import { AuditCheckpointRow } from './audit-checkpoint.row';
import { AuditEventRow } from './audit-event.row';
import { Audit1780000000012 } from './migrations/1780000000012-audit';
import { AuditBacklog1780000000014 } from './migrations/1780000000014-audit-backlog';
import { AuditCheckpoints1780000000070 } from './migrations/1780000000070-audit-checkpoints';
import { AuditFilterIndexes1780000000071 } from './migrations/1780000000071-audit-filter-indexes';

/** All columns except the sequence and the link, which only functions set. Release 1.0.0 writes the anchor. */
const RECORDED =
  'workspace_id, id, occurred_at, action, actor_type, actor_name, target_type, target_id, asset_id, application_id, ' +
  'client_id, request_id, key_hash, changes, anchor_sequence, anchor_link, mac';

/** Only archives remove events, so a workspace that goes leaves these tables to the audit. */
export const AUDIT_TABLES = ['audit_event', 'audit_checkpoint', 'audit_seal', 'audit_head'];

export const auditSchema: SchemaPart = {
  entities: [AuditEventRow, AuditCheckpointRow],
  migrations: [
    Audit1780000000012,
    AuditBacklog1780000000014,
    AuditCheckpoints1780000000070,
    AuditFilterIndexes1780000000071,
  ],
  grants: [
    { table: 'audit_event', privileges: `SELECT, INSERT (${RECORDED})` },
    { table: 'audit_checkpoint', privileges: 'SELECT' },
    { function: 'workspaces_to_extend' },
    { function: 'extend_audit' },
    { function: 'audit_backlog' },
    // Used by instances of release 1.0.0 during an upgrade.
    { table: 'audit_seal', privileges: 'SELECT' },
    { table: 'audit_head', privileges: 'SELECT' },
    { function: 'workspaces_to_seal' },
    { function: 'seal_audit_events' },
  ],
  consoleGrants: [
    { table: 'audit_event', privileges: `SELECT, INSERT (${RECORDED})` },
    { table: 'audit_checkpoint', privileges: 'SELECT' },
  ],
};
