import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
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

const VARIANTS = ['with history', 'without history'] as const;
type Variant = (typeof VARIANTS)[number];
type Databases = Readonly<Record<Variant, BenchmarkDatabase>>;
/** The imports of a round, in this order, with the outcome of every record. */
const IMPORTS = { new: 'created', unchanged: 'unchanged', changed: 'updated' } as const;
type Import = keyof typeof IMPORTS;

/** Measures writes on two databases in turn, of which one keeps no former states. */
export async function benchmarkHistory(setting: Setting): Promise<Findings> {
  const { cluster, sizes } = setting;
  const databases = { 'with history': await cluster.aDatabase(), 'without history': await cluster.aDatabase() };
  await databases['without history'].admin.query('DROP TRIGGER keep_former_asset ON asset');
  setting.say('  updates and bulks of 100: with and without history in turn');
  const { updates, bulks } = await compareUpdates(setting, databases);
  const imports = await measureImports(setting, databases);
  for (const database of Object.values(databases)) await database.drop();
  const ratio = (values: Values<Variant>): number => medianRatio(values['with history'], values['without history']);
  return {
    measurements: [
      ...timesOf('update', 'ms', updates),
      ...timesOf('bulk of 100', 'ms', bulks),
      ...(Object.keys(IMPORTS) as Import[]).flatMap((kind) =>
        timesOf(`import of ${sizes.importedRecords.toLocaleString('en')} ${kind} records`, 's', imports[kind]),
      ),
    ],
    measured: {
      'history-update': ratio(updates),
      'history-bulk': ratio(bulks),
      'history-import-new': ratio(imports.new),
      'history-import-unchanged': ratio(imports.unchanged),
      'history-import-changed': ratio(imports.changed),
    } satisfies Partial<Record<TargetName, number>>,
  };
}

/** Each round imports into a new workspace. */
async function measureImports(setting: Setting, databases: Databases): Promise<Record<Import, Values<Variant>>> {
  const { sizes, say } = setting;
  buildOnce(say);
  say('  imports: with and without history in turn');
  const directory = mkdtempSync(join(tmpdir(), 'history-'));
  const [file, changed, empty] = ['inventory', 'changed', 'empty'].map((name) => join(directory, `${name}.ndjson`)) as [
    string,
    string,
    string,
  ];
  try {
    await writeInventory(empty, 0);
    await writeInventory(file, sizes.importedRecords);
    await writeFile(changed, (await readFile(file, 'utf8')).replaceAll('"name":"', '"name":"renamed '));
    const rounds = await takeTurns(
      VARIANTS,
      { rounds: sizes.longRounds, turns: 2, warmUpRounds: 0 },
      async (variant) => {
        const database = databases[variant];
        const { slug } = await database.aWorkspace();
        const start = await runImport(setting, database, slug, empty);
        const seconds = {} as Record<Import, number>;
        for (const kind of Object.keys(IMPORTS) as Import[]) {
          await settle(database);
          const run = await runImport(setting, database, slug, kind === 'changed' ? changed : file);
          const outcome = IMPORTS[kind];
          assertAll(sizes.importedRecords, (JSON.parse(run.output) as ImportReport)[outcome], outcome);
          seconds[kind] = run.seconds - start.seconds;
        }
        return seconds;
      },
      (turns) => byImport((kind) => median(turns.map((turn) => turn[kind]))),
    );
    return byImport((kind) => ({
      'with history': rounds['with history'].map((round) => round[kind]),
      'without history': rounds['without history'].map((round) => round[kind]),
    }));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const byImport = <Value>(valueOf: (kind: Import) => Value): Record<Import, Value> => ({
  new: valueOf('new'),
  unchanged: valueOf('unchanged'),
  changed: valueOf('changed'),
});
