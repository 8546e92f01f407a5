import type { SchemaPart } from '#libs/platform/database';
import { ImportFreshnessRow, ImportRunRow } from './import-run.row';
import { ImportRuns1780000000090 } from './migrations/1780000000090-import-runs';
import { ImportFreshness1780000000140 } from './migrations/1780000000140-import-freshness';

export const importsSchema: SchemaPart = {
  entities: [ImportRunRow, ImportFreshnessRow],
  migrations: [ImportRuns1780000000090, ImportFreshness1780000000140],
  grants: [
    { table: 'import_run', privileges: 'SELECT' },
    { table: 'import_freshness', privileges: 'SELECT' },
    { function: 'inventory_sources' },
    { function: 'settle_import_runs' },
    { function: 'freshness_of_imports' },
  ],
  consoleGrants: [
    { table: 'import_run', privileges: 'SELECT, INSERT, UPDATE' },
    { table: 'import_freshness', privileges: 'SELECT' },
    { function: 'inventory_sources' },
    // For uploads. An import locks the counters, which needs the right to update a column.
    { database: 'TEMPORARY' },
    { table: 'asset', privileges: 'INSERT, UPDATE' },
    { table: 'computer', privileges: 'INSERT, UPDATE' },
    { table: 'tag_key', privileges: 'INSERT' },
    { table: 'facet_count', privileges: 'UPDATE (workspace_id)' },
    { sequence: 'asset_id_seq' },
  ],
};
