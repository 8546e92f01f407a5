import type { SchemaPart } from '#libs/platform/database';
import { AuditEventRow } from './audit-event.row';
import { AuditFloorRow, AuditHeadRow, AuditSealRow, AuditTreeRow } from './audit-proofs.row';
import { Audit1780000000012 } from './migrations/1780000000012-audit';
import { AuditBacklog1780000000014 } from './migrations/1780000000014-audit-backlog';
import { AuditPublication1780000000070 } from './migrations/1780000000070-audit-publication';
import { AuditFilterIndexes1780000000071 } from './migrations/1780000000071-audit-filter-indexes';
import { AuditTree1780000000075 } from './migrations/1780000000075-audit-tree';
import { AuditFloor1780000000077 } from './migrations/1780000000077-audit-floor';
import { ActorName1780000000078 } from './migrations/1780000000078-actor-name';

/** All columns except the sequence and the link, which only the sealing function sets. */
const RECORDED =
  'workspace_id, id, occurred_at, action, actor_type, actor_name, target_type, target_id, asset_id, application_id, ' +
  'client_id, request_id, key_hash, changes, anchor_sequence, anchor_link, mac';

export const auditSchema: SchemaPart = {
  entities: [AuditEventRow, AuditSealRow, AuditHeadRow, AuditTreeRow, AuditFloorRow],
  migrations: [
    Audit1780000000012,
    AuditBacklog1780000000014,
    AuditPublication1780000000070,
    AuditFilterIndexes1780000000071,
    AuditTree1780000000075,
    AuditFloor1780000000077,
    ActorName1780000000078,
  ],
  grants: [
    { table: 'audit_event', privileges: `SELECT, INSERT (${RECORDED})` },
    { table: 'audit_seal', privileges: 'SELECT' },
    { table: 'audit_head', privileges: 'SELECT' },
    { table: 'audit_tree', privileges: 'SELECT' },
    { table: 'audit_floor', privileges: 'SELECT' },
    { function: 'workspaces_to_seal' },
    { function: 'seal_audit_events' },
    { function: 'workspaces_to_publish' },
    { function: 'publish_audit_seals' },
    { function: 'workspaces_to_grow' },
    { function: 'grow_audit_tree' },
    { function: 'audit_backlog' },
  ],
};
