import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ImportReport } from '#libs/inventory/operators';
import type { BenchmarkDatabase } from '../benchmark-database';
import { buildOnce } from '../built-program';
import type { Findings } from '../findings';
import { assertAll, runImport, settle } from '../imports/imports-benchmark';
import { writeInventory } from '../imports/inventory-file';
import type { Setting } from '../setting';
import { median, medianRatio } from '../statistics';
import type { TargetName } from '../targets';
import { takeTurns } from '../turns';
import { type Values, compareUpdates, timesOf } from '../updates/compared-updates';
import { withoutTickets } from './without-tickets';

const VARIANTS = ['with tickets', 'without tickets'] as const;
type Variant = (typeof VARIANTS)[number];

/** Measures writes on two databases in turn. One of them has no change sets: they are what a ticket costs. */
export async function benchmarkTickets(setting: Setting): Promise<Findings> {
  const { cluster } = setting;
  const databases = { 'with tickets': await cluster.aDatabase(), 'without tickets': await cluster.aDatabase() };
  await withoutTickets(databases['without tickets']);
  setting.say('  updates and bulks of 100: with and without tickets in turn');
  const { updates, bulks } = await compareUpdates(setting, databases);
  const imports = await measureImports(setting, databases);
  for (const database of Object.values(databases)) await database.drop();
  const ratio = (values: Values<Variant>): number => medianRatio(values['with tickets'], values['without tickets']);
  return {
    measurements: [
      ...timesOf('update', 'ms', updates),
      ...timesOf('bulk of 100', 'ms', bulks),
      ...timesOf(`import of ${setting.sizes.importedRecords.toLocaleString('en')} records`, 's', imports),
    ],
    measured: {
      'ticket-update': ratio(updates),
      'ticket-bulk': ratio(bulks),
      'ticket-import': ratio(imports),
    } satisfies Partial<Record<TargetName, number>>,
  };
}

/** Each import creates the assets of a new workspace. */
async function measureImports(
  setting: Setting,
  databases: Readonly<Record<Variant, BenchmarkDatabase>>,
): Promise<Values<Variant>> {
  const { sizes, say } = setting;
  buildOnce(say);
  say('  imports: with and without tickets in turn');
  const directory = mkdtempSync(join(tmpdir(), 'tickets-'));
  const [file, empty] = [join(directory, 'inventory.ndjson'), join(directory, 'empty.ndjson')];
  try {
    await writeInventory(empty, 0);
    await writeInventory(file, sizes.importedRecords);
    return await takeTurns(
      VARIANTS,
      { rounds: sizes.longRounds, turns: 2, warmUpRounds: 0 },
      async (variant) => {
        const database = databases[variant];
        const { slug } = await database.aWorkspace();
        const start = await runImport(setting, database, slug, empty);
        await settle(database);
        const run = await runImport(setting, database, slug, file);
        assertAll(sizes.importedRecords, (JSON.parse(run.output) as ImportReport).created, 'created');
        return run.seconds - start.seconds;
      },
      median,
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
}
