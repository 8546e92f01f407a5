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
/** Tables that an import writes. */
const TABLES = 'asset, asset_tag, computer, facet_count, tag_key';
/** The expected result of every record in the first and the second import. */
const OUTCOMES = { imported: 'created', again: 'unchanged' } as const;

/**
 * Compares the operators' import of a file, first with new records and then unchanged, with a bare COPY. The COPY
 * writes the same rows into the same table with all indexes, constraints and triggers. The import also validates
 * records, resolves owners, and writes tags and posture. Its time is that of the whole command minus that for an empty
 * file.
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
    // The first start reads the program from disk. That time must not be subtracted from later runs.
    await runImport(setting, database, (await database.aWorkspace()).slug, empty);
    for (let round = 1; round <= sizes.longRounds; round += 1) {
      say(`  round ${round} of ${sizes.longRounds}`);
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
      // The import also started with empty tables.
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

/** Imports a file of records with owners of the same file. */
export const runImport = (setting: Setting, database: BenchmarkDatabase, slug: string, file: string) =>
  runImportCommand(setting, database, slug, [file, '--source', 'demo', '--create-tag-keys', 'platform']);

/** Runs the operators' command. */
export async function runImportCommand(
  { cluster }: Setting,
  database: BenchmarkDatabase,
  slug: string,
  words: readonly string[],
): Promise<FinishedProgram> {
  const environment = {
    ...apiEnvironment(cluster, database.databaseUrl),
    MIGRATION_DATABASE_URL: database.migrationDatabaseUrl,
  };
  return runBuilt('apps/admin/src/main.ts', ['import', ...words, '--workspace', slug, '--json'], environment);
}

/**
 * Leaves nothing to vacuum. An autovacuum during a COPY would see empty pages, and foreign keys would then use a wrong
 * index, hundreds of times slower.
 */
async function emptyTables({ admin }: BenchmarkDatabase): Promise<void> {
  await admin.query(`TRUNCATE ${TABLES}`);
  await admin.query(`VACUUM ANALYZE ${TABLES}`);
}

/** Writes dirty buffers now, so that the next measurement does not pay for them. */
export async function settle({ admin }: BenchmarkDatabase): Promise<void> {
  await admin.query('CHECKPOINT');
}

/** An incomplete run would seem fast. */
export function assertAll(records: number, done: number, what: string): void {
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
