import type { SchemaPart } from '#libs/platform/database';
import { ImportFreshnessRow, ImportRunRow } from './import-run.row';
import { ImportRuns1780000000090 } from './migrations/1780000000090-import-runs';

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
    { table: 'import_run', privileges: 'SELECT' },
    { table: 'import_freshness', privileges: 'SELECT' },
    { function: 'inventory_sources' },
  ],
};
