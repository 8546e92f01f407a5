import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ImportsService } from '#libs/inventory';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { WorkspaceId } from '#libs/kernel';
import { demoInventory } from '../../libs/inventory/src/domain/demo-inventory';
import { ImportFilesSystem } from '../../libs/inventory/src/system/import-files.system';
import { ImportStoreTypeorm } from '../../libs/inventory/src/typeorm/import-store.typeorm';
import type { BenchmarkDatabase } from './benchmark-database';
import { judge, median, milliseconds } from './statistics';

/** Columns that a bare COPY needs to make the same rows of asset. */
const COLUMNS = `public_id, source, external_id, sub_key, visibility, classification, owner_source, owner_id, created_at,
  last_checked_at, name, description, tags, account_id, region, serial_number, operating_system, os_version, email,
  contains_patient_data, contains_user_data, user_data_info`;

/**
 * An import of new records against a bare COPY of the same rows into the same table with all its indexes, constraints and
 * triggers; the import also checks every record, resolves owners, and writes tags and posture to tables of their own.
 */
export async function benchmarkImport(
  database: BenchmarkDatabase,
  options: { readonly records: number; readonly rounds: number },
): Promise<number> {
  console.log(`\nImport of ${options.records} records, ${options.rounds} rounds`);
  const records = take(demoInventory('L'), options.records);
  const times = { imported: [] as number[], again: [] as number[], copied: [] as number[] };
  for (let round = 0; round < options.rounds; round += 1) {
    const workspace = await database.aWorkspace();
    times.imported.push(await milliseconds(() => runImport(database, workspace, records)));
    times.again.push(await milliseconds(() => runImport(database, workspace, records)));
    const rows = await copyOut(database, workspace);
    const target = await database.aWorkspace();
    times.copied.push(await milliseconds(() => copyIn(database, target, rows)));
    await remove(database, [workspace, target]);
  }
  const perSecond = (milliseconds: number) => Math.round(options.records / (milliseconds / 1000));
  const [imported, again, copied] = [median(times.imported), median(times.again), median(times.copied)];
  console.log(`  new ${perSecond(imported)}/s, unchanged ${perSecond(again)}/s, bare COPY ${perSecond(copied)}/s`);
  return (
    judge('speed of an import of new records against a bare COPY', copied / imported, { atLeast: 0.4 }) +
    judge('speed of an unchanged import against a bare COPY', copied / again, { atLeast: 0.4 })
  );
}

async function runImport(
  database: BenchmarkDatabase,
  workspace: WorkspaceId,
  records: readonly unknown[],
): Promise<void> {
  const imports = new ImportsService(new ImportStoreTypeorm(database.operator), new ImportFilesSystem());
  const lines = records.map((value, index) => ({ fileIndex: 0, line: index + 1, value }));
  const options = { source: 'demo', files: [], dryRun: false, missing: 'keep', createTagKeys: 'platform' } as const;
  const report = await imports.runLines(workspace, options, lines, () => undefined);
  if (report.failed > 0) throw new Error(JSON.stringify(report.errors[0]));
}

async function copyOut(database: BenchmarkDatabase, workspace: WorkspaceId): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const rows = database.admin.query(
    copyTo(`COPY (SELECT ${COLUMNS} FROM asset WHERE workspace_id = '${workspace}' ORDER BY id) TO STDOUT`),
  );
  for await (const chunk of rows as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function copyIn(database: BenchmarkDatabase, workspace: WorkspaceId, rows: Buffer): Promise<void> {
  const { admin } = database;
  await admin.query(`SELECT set_config('app.workspace_id', $1, false)`, [workspace]);
  await admin.query(`ALTER TABLE asset ALTER workspace_id SET DEFAULT '${workspace}'`);
  await pipeline(Readable.from(slices(rows)), admin.query(copyFrom(`COPY asset (${COLUMNS}) FROM STDIN`)));
  await admin.query('ALTER TABLE asset ALTER workspace_id DROP DEFAULT');
}

function* slices(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += 65_536) yield bytes.subarray(start, start + 65_536);
}

async function remove({ admin }: BenchmarkDatabase, workspaces: readonly WorkspaceId[]): Promise<void> {
  await admin.query(`SET session_replication_role = replica`);
  for (const table of ['asset_tag', 'computer', 'asset', 'facet_count', 'tag_key']) {
    await admin.query(`DELETE FROM ${table} WHERE workspace_id = ANY($1)`, [workspaces]);
  }
  await admin.query('SET session_replication_role = DEFAULT');
  await admin.query('VACUUM asset, asset_tag, computer');
}

function take<Item>(items: Iterable<Item>, count: number): Item[] {
  const taken: Item[] = [];
  for (const item of items) {
    if (taken.length === count) break;
    taken.push(item);
  }
  return taken;
}
