import type { SchemaPart } from '#libs/platform';
import { AssetsAndFacetCounts1780000000010 } from './migrations/1780000000010-assets-and-facet-counts';
import { Audit1780000000012 } from './migrations/1780000000012-audit';
import { AuditBacklog1780000000014 } from './migrations/1780000000014-audit-backlog';
import { CountersSearchPath1780000000013 } from './migrations/1780000000013-counters-search-path';

/** All but the sequence and the link, which only the sealing function fills in. */
const RECORDED =
  'workspace_id, id, occurred_at, asset_id, application_id, client_id, request_id, key_hash, changes, ' +
  'anchor_sequence, anchor_link, mac';

/** What an update writes; everything else of an asset is its source's. */
const WRITTEN = 'classification, description, owner_id, owner_source, tags, api_set, version';

/** The tables of assets, their tags and their counters, and of the audit of their changes. */
export const inventorySchema: SchemaPart = {
  migrations: [
    AssetsAndFacetCounts1780000000010,
    Audit1780000000012,
    CountersSearchPath1780000000013,
    AuditBacklog1780000000014,
  ],
  grants: [
    { table: 'tag_key', privileges: 'SELECT' },
    { table: 'asset', privileges: `SELECT, UPDATE (${WRITTEN})` },
    { table: 'asset_tag', privileges: 'SELECT, INSERT, DELETE' },
    { table: 'computer', privileges: 'SELECT' },
    { table: 'facet_count', privileges: 'SELECT' },
    { table: 'audit_event', privileges: `SELECT, INSERT (${RECORDED})` },
    { table: 'audit_seal', privileges: 'SELECT' },
    { table: 'audit_head', privileges: 'SELECT' },
    { function: 'workspaces_to_seal' },
    { function: 'seal_audit_events' },
    { function: 'audit_backlog' },
  ],
};
