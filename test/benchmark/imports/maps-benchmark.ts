import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ImportReport } from '#libs/inventory/operators';
import type { BenchmarkDatabase } from '../benchmark-database';
import { type FinishedProgram, buildOnce } from '../built-program';
import type { Findings } from '../findings';
import type { Setting } from '../setting';
import { median } from '../statistics';
import { writeDevices, writeEmployees } from './device-export';
import { assertAll, runImportCommand, settle } from './imports-benchmark';

const MEGABYTE = 1_000_000;
const EMPLOYEES = 10_000;
/** The smaller export has this part of the devices. */
const PART = 10;

/**
 * Imports one JSON document of devices by the map of Intune. Their owners are known employees of another source. An
 * export of a tenth shows how much memory depends on the size. Times are those of the whole command.
 */
export async function benchmarkMaps(setting: Setting): Promise<Findings> {
  const { cluster, sizes, say } = setting;
  buildOnce(say);
  const directory = mkdtempSync(join(tmpdir(), 'maps-'));
  const devices = sizes.importedRecords;
  const exports = [devices / PART, devices].map((count) => ({
    ...{ count, file: join(directory, `${count}.json`), speeds: [] as number[], peaks: [] as number[] },
  }));
  const employees = join(directory, 'employees.ndjson');
  const database = await cluster.aDatabase();
  try {
    say(`  writing ${devices} devices`);
    await writeEmployees(employees, EMPLOYEES);
    for (const { file, count } of exports) await writeDevices(file, count, EMPLOYEES);
    for (let round = 1; round <= sizes.longRounds; round += 1) {
      say(`  round ${round} of ${sizes.longRounds}`);
      for (const { file, count, speeds, peaks } of exports) {
        const run = await importDevices(setting, database, { employees, file, count });
        speeds.push(count / run.seconds);
        peaks.push(run.peakMemory / MEGABYTE);
      }
    }
    await database.drop();
    const [small, large] = exports as [(typeof exports)[0], (typeof exports)[0]];
    return {
      measurements: exports.flatMap(({ count, file, speeds, peaks }) => {
        const subject = `${count.toLocaleString('en')} devices, ${Math.round(statSync(file).size / MEGABYTE)} MB`;
        const of = { subject, variant: 'map intune-devices' };
        return [
          { ...of, figure: 'records a second', unit: '', values: speeds },
          { ...of, figure: 'peak memory', unit: 'MB', values: peaks },
        ];
      }),
      measured: { 'map-speed': median(large.speeds), 'map-memory': median(large.peaks) / median(small.peaks) },
    };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Imports the devices into a new workspace that has the employees. */
async function importDevices(
  setting: Setting,
  database: BenchmarkDatabase,
  { employees, file, count }: { readonly employees: string; readonly file: string; readonly count: number },
): Promise<FinishedProgram> {
  const { slug } = await database.aWorkspace();
  await runImportCommand(setting, database, slug, [employees, '--source', 'hr']);
  await settle(database);
  const run = await runImportCommand(setting, database, slug, [file, '--source', 'intune', '--map', 'intune-devices']);
  const { created, failed, warned } = JSON.parse(run.output) as ImportReport;
  assertAll(count, created, 'created');
  assertAll(0, failed + warned, 'failed or had a warning');
  return run;
}
