import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ImportReport } from '#libs/inventory/operators';
import type { BenchmarkDatabase } from '../benchmark-database';
import { type FinishedProgram, buildOnce, runBuilt } from '../built-program';
import type { Findings } from '../findings';
import { apiEnvironment } from '../servers';
import type { Setting } from '../setting';
import { medianRatio, milliseconds } from '../statistics';
import { copyIn, copyOut } from './bare-copy';
import { writeInventory } from './inventory-file';

const MEGABYTE = 1_000_000;
/** What an import writes. */
const TABLES = 'asset, asset_tag, computer, facet_count, tag_key';
/** What the command says of every record, the first time and the second. */
const OUTCOMES = { imported: 'created', again: 'unchanged' } as const;

/**
 * The operators' import of a file of new records, and of the same again, which changes nothing, against a bare COPY of the
 * same rows into the same table with all its indexes, constraints and triggers. The import also reads and checks every
 * record, resolves owners, and writes tags and posture to tables of their own. Its time is that of the whole command, less
 * what the same command takes for an empty file.
 */
export async function benchmarkImports(setting: Setting): Promise<Findings> {
  const { cluster, sizes, say } = setting;
  buildOnce(say);
  const directory = mkdtempSync(join(tmpdir(), 'import-'));
  const [file, empty, rows] = ['inventory.ndjson', 'empty.ndjson', 'rows'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  const database = await cluster.aDatabase();
  const seconds = { imported: [] as number[], again: [] as number[], copied: [] as number[] };
  const starts: number[] = [];
  const peaks = { imported: [] as number[], again: [] as number[] };
  try {
    say(`  writing ${sizes.importedRecords} records`);
    await writeInventory(empty, 0);
    await writeInventory(file, sizes.importedRecords);
    // The first start reads the program from the disk: what it takes must not be taken off a later one's time.
    await runImport(setting, database, (await database.aWorkspace()).slug, empty);
    for (let round = 1; round <= sizes.importRounds; round += 1) {
      say(`  round ${round} of ${sizes.importRounds}`);
      const workspace = await database.aWorkspace();
      const start = (await runImport(setting, database, workspace.slug, empty)).seconds;
      starts.push(start);
      for (const name of ['imported', 'again'] as const) {
        await settle(database);
        const run = await runImport(setting, database, workspace.slug, file);
        const outcome = OUTCOMES[name];
        assertAll(sizes.importedRecords, (JSON.parse(run.output) as ImportReport)[outcome], outcome);
        seconds[name].push(run.seconds - start);
        peaks[name].push(run.peakMemory / MEGABYTE);
      }
      await copyOut(database, workspace.id, rows);
      // Into tables as empty as those that the import found.
      await emptyTables(database);
      await settle(database);
      const target = await database.aWorkspace();
      let copied = 0;
      const elapsed = await milliseconds(async () => (copied = await copyIn(database, target.id, rows)));
      assertAll(sizes.importedRecords, copied, 'copied');
      seconds.copied.push(elapsed / 1_000);
      await emptyTables(database);
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
  await database.drop();
  return findings(sizes.importedRecords, seconds, peaks, starts);
}

async function runImport(
  { cluster }: Setting,
  database: BenchmarkDatabase,
  slug: string,
  file: string,
): Promise<FinishedProgram> {
  const words = ['import', file, '--workspace', slug, '--source', 'demo', '--create-tag-keys', 'platform', '--json'];
  const environment = {
    ...apiEnvironment(cluster, database.databaseUrl),
    MIGRATION_DATABASE_URL: database.migrationDatabaseUrl,
  };
  return runBuilt('apps/admin/src/main.ts', words, environment);
}

/**
 * With nothing left to be vacuumed: an autovacuum in the middle of a COPY finds pages without a row of anybody's, and
 * foreign keys are then checked by the wrong index, hundreds of times slower.
 */
async function emptyTables({ admin }: BenchmarkDatabase): Promise<void> {
  await admin.query(`TRUNCATE ${TABLES}`);
  await admin.query(`VACUUM ANALYZE ${TABLES}`);
}

/** Nobody pays for writing to the disk what the one before has left in memory. */
async function settle({ admin }: BenchmarkDatabase): Promise<void> {
  await admin.query('CHECKPOINT');
}

/** A run that did less than it was asked for would be fast. */
function assertAll(records: number, done: number, what: string): void {
  if (done !== records) throw new Error(`${done} of ${records} records ${what}.`);
}

function findings(
  records: number,
  seconds: Readonly<Record<'imported' | 'again' | 'copied', readonly number[]>>,
  peaks: Readonly<Record<'imported' | 'again', readonly number[]>>,
  starts: readonly number[],
): Findings {
  const subject = `${records.toLocaleString('en')} records`;
  const names = { imported: 'new', again: 'unchanged', copied: 'bare COPY' };
  const speeds = Object.entries(seconds).map(([name, values]) => ({
    ...{ subject, variant: names[name as keyof typeof names], figure: 'records a second', unit: '' },
    values: values.map((value) => records / value),
  }));
  const memory = Object.entries(peaks).map(([name, values]) => ({
    ...{ subject, variant: names[name as keyof typeof names], figure: 'peak memory', unit: 'MB', values },
  }));
  return {
    measurements: [
      ...speeds,
      ...memory,
      { subject: 'no records', variant: 'the command itself', figure: 'time', unit: 's', values: starts },
    ],
    measured: {
      'import-new': medianRatio(seconds.copied, seconds.imported),
      'import-unchanged': medianRatio(seconds.copied, seconds.again),
      'import-memory': Math.max(...peaks.imported, ...peaks.again),
    },
  };
}
