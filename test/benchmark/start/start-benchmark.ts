import { setTimeout as delay } from 'node:timers/promises';
import type { BenchmarkDatabase } from '../benchmark-database';
import { buildOnce } from '../built-program';
import type { Findings, Measurement } from '../findings';
import { cannonade } from '../load';
import { type Access, accessTo, apiEnvironment, arrangementAt } from '../servers';
import type { Setting } from '../setting';
import { median } from '../statistics';
import { takeTurns } from '../turns';
import { Instance } from './instance';

const MEGABYTE = 1_000_000;
/** Time after the start for garbage collection. */
const IDLE_MS = 5_000;
const INSTANCES = [1, 2, 3];
/** Connections of all instances together. */
const CONNECTIONS = 12;

/** Measures start time and memory of an instance, and the throughput of several. */
export async function benchmarkStart(setting: Setting): Promise<Findings> {
  const { cluster, sizes, say } = setting;
  buildOnce(say);
  const database = await cluster.inventory();
  const environment = apiEnvironment(cluster, database.databaseUrl);
  await database.workspace(sizes.served);
  // Only the first start makes keys.
  await (await Instance.start(environment)).stop();
  const boots: number[] = [];
  for (let boot = 0; boot < sizes.boots; boot += 1) {
    const instance = await Instance.start(environment);
    boots.push(instance.bootSeconds);
    await instance.stop();
  }
  const instances: Instance[] = [];
  try {
    for (const _ of INSTANCES) instances.push(await Instance.start(environment));
    return findings(
      boots,
      await measureMemory(setting, database, instances),
      await measureScale(setting, database, instances),
    );
  } finally {
    for (const instance of instances) await instance.stop();
  }
}

async function access({ cluster, sizes }: Setting, database: BenchmarkDatabase, instance: Instance): Promise<Access> {
  const workspace = await database.workspace(sizes.served);
  return accessTo(instance.port, arrangementAt(cluster, database, instance.port), workspace);
}

interface Memory {
  readonly idle: readonly number[];
  readonly loaded: readonly number[];
}

async function measureMemory(
  setting: Setting,
  database: BenchmarkDatabase,
  instances: readonly Instance[],
): Promise<Memory> {
  setting.say('  memory');
  await delay(IDLE_MS);
  const resident = (): number[] => instances.map(({ residentMemory }) => residentMemory / MEGABYTE);
  const idle = resident();
  const loaded: number[] = [];
  for (const instance of instances) {
    const { authorization } = await access(setting, database, instance);
    await cannonade(instance.port, [pageOf(authorization)], {
      length: { seconds: setting.sizes.secondsPerTurn * 5 },
      connections: CONNECTIONS,
    });
    loaded.push(instance.residentMemory / MEGABYTE);
  }
  return { idle, loaded };
}

/** Measures the requests per second of all instances together. */
async function measureScale(
  setting: Setting,
  database: BenchmarkDatabase,
  instances: readonly Instance[],
): Promise<Record<string, number[]>> {
  setting.say(`  ${INSTANCES.join(', ')} instances in turn`);
  const { authorization } = await access(setting, database, instances[0] as Instance);
  return takeTurns(
    INSTANCES.map(String),
    { rounds: setting.sizes.rounds, turns: 2 },
    async (count) => {
      const serving = instances.slice(0, Number(count));
      const length = { seconds: setting.sizes.secondsPerTurn };
      const options = { length, connections: CONNECTIONS / serving.length };
      const loads = await Promise.all(serving.map(({ port }) => cannonade(port, [pageOf(authorization)], options)));
      return loads.reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond, 0);
    },
    median,
  );
}

const pageOf = (authorization: string) =>
  ({ method: 'GET', path: '/v1/inventory/assets', headers: { authorization } }) as const;

function findings(boots: readonly number[], memory: Memory, scale: Readonly<Record<string, number[]>>): Findings {
  const subject = 'an instance';
  const measurements: Measurement[] = [
    { subject, variant: 'start', figure: 'time to ready', unit: 's', values: boots },
    { subject, variant: 'idle', figure: 'resident memory', unit: 'MB', values: memory.idle },
    { subject, variant: 'under load', figure: 'resident memory', unit: 'MB', values: memory.loaded },
    ...Object.entries(scale).map(([count, values]) => ({
      ...{ subject: 'instances', variant: `${count} of them`, figure: 'requests a second', unit: '', values },
    })),
  ];
  return { measurements, measured: { 'boot-time': median(boots), 'idle-memory': Math.max(...memory.idle) } };
}
