import type { SchemaPart } from '#libs/platform/database';
import { ImportFreshnessRow, ImportRunRow } from './import-run.row';
import { COMPUTER_COLUMNS, MERGED_COLUMNS } from './merged-columns';
import { ImportRuns1780000000090 } from './migrations/1780000000090-import-runs';

/** Columns that an import changes. */
const OF_RUN = 'outcome, ended_at, counts, hidden_why, errors, warnings';
const OF_ASSET = [...MERGED_COLUMNS, 'external_id', 'posture', 'version', 'change_id', 'updated_at'].join(', ');

export const importsSchema: SchemaPart = {
  entities: [ImportRunRow, ImportFreshnessRow],
  migrations: [ImportRuns1780000000090],
  grants: [
    { table: 'import_run', privileges: 'SELECT' },
    { table: 'import_freshness', privileges: 'SELECT' },
    { function: 'inventory_sources' },
    { function: 'settle_import_runs' },
    { function: 'freshness_of_imports' },
  ],
  consoleGrants: [
    { table: 'import_run', privileges: `SELECT, INSERT, UPDATE (${OF_RUN})` },
    { table: 'import_freshness', privileges: 'SELECT' },
    { function: 'inventory_sources' },
    // For uploads. An import locks tag keys and counters, which needs the right to update a column.
    { database: 'TEMPORARY' },
    { table: 'asset', privileges: `INSERT, UPDATE (${OF_ASSET})` },
    { table: 'computer', privileges: `INSERT, UPDATE (${COMPUTER_COLUMNS.join(', ')})` },
    { table: 'tag_key', privileges: 'INSERT, UPDATE (workspace_id)' },
    { table: 'facet_count', privileges: 'UPDATE (workspace_id)' },
    { sequence: 'asset_id_seq' },
  ],
};
