import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Findings, Measurement } from '../findings';
import { type Place, type Site, apiSite, floorSite } from '../paths/site';
import type { Setting } from '../setting';
import { median, medianRatio } from '../statistics';
import { takeTurns } from '../turns';
import { readBeginning, readWhole } from './whole-stream';

type Variant = 'api' | 'floor';

const FIGURES: Readonly<Record<keyof StreamCosts, string>> = {
  rowsPerSecond: 'assets a second',
  serverCpu: 'CPU of the server',
};
const UNITS: Readonly<Record<keyof StreamCosts, string>> = { rowsPerSecond: '', serverCpu: 'µs' };
const COMPARED_LINES = 500;
const MEGABYTE = 1_000_000;
/** The garbage of a stream reaches its usual size within this share of it. */
const SETTLING = 0.1;
const LOOK_EVERY_MS = 100;
/** A place is free this long after its stream ended. */
const FREE_MS = 50;

/** Of a whole stream; the CPU is for one asset. */
interface StreamCosts {
  readonly rowsPerSecond: number;
  readonly serverCpu: number;
}

/**
 * Streams a whole workspace from the API and from a server on node:http written by hand, which runs the same statement.
 * Each is one Node process, and so has one core. A stream of the largest workspace shows the memory.
 */
export async function benchmarkStreams(setting: Setting): Promise<Findings> {
  const { cluster, sizes, say } = setting;
  const place: Place = { database: await cluster.inventory(), size: sizes.served };
  const sites = { api: await apiSite(cluster, place), floor: await floorSite(cluster, place) };
  await assertSameLines(sites);
  say(`  streams of ${(await readWhole(sites.api)).rows.toLocaleString('en')} assets: api, floor in turn`);
  const costs = await takeTurns(
    ['api', 'floor'] as const satisfies readonly Variant[],
    { rounds: sizes.rounds, turns: 1 },
    (variant) => costsOf(sites[variant]),
    ([only]) => only as StreamCosts,
  );
  for (const site of Object.values(sites)) await site.server.stop();
  const memory = await memoryOfStream(setting);
  const of = (variant: Variant, figure: keyof StreamCosts): number[] => costs[variant].map((one) => one[figure]);
  return {
    measurements: [
      ...(['api', 'floor'] as const).flatMap((variant) =>
        (Object.keys(FIGURES) as (keyof StreamCosts)[]).map((figure): Measurement => {
          const subject = `stream of ${sizes.served}`;
          return { subject, variant, figure: FIGURES[figure], unit: UNITS[figure], values: of(variant, figure) };
        }),
      ),
      ...memory.measurements,
    ],
    measured: {
      'stream-floor': medianRatio(of('api', 'rowsPerSecond'), of('floor', 'rowsPerSecond')),
      'stream-speed': median(of('api', 'rowsPerSecond')),
      'stream-memory': memory.growth,
    },
  };
}

async function costsOf(site: Site): Promise<StreamCosts> {
  const before = await site.server.cpuMilliseconds();
  const { rows, seconds } = await readWhole(site);
  const cpu = (await site.server.cpuMilliseconds()) - before;
  await delay(FREE_MS);
  return { rowsPerSecond: rows / seconds, serverCpu: (cpu / rows) * 1_000 };
}

/** @throws unless both streams begin with the same assets: shorter lines would be an unfair measure */
async function assertSameLines(sites: Readonly<Record<Variant, Site>>): Promise<void> {
  const [api, floor] = [
    await readBeginning(sites.api, COMPARED_LINES),
    await readBeginning(sites.floor, COMPARED_LINES),
  ];
  const assets = (lines: readonly string[]): unknown[] => lines.slice(1).map((line) => JSON.parse(line) as unknown);
  if (!isDeepStrictEqual(assets(api), assets(floor))) throw new Error('The floor streams other lines than the API.');
  await delay(1_000);
}

/** How much the peak of the API's memory grows after the beginning of a stream of the largest workspace. */
async function memoryOfStream({
  cluster,
  sizes,
  say,
}: Setting): Promise<{ readonly growth: number; readonly measurements: readonly Measurement[] }> {
  const size = sizes.workspaces.at(-1) ?? sizes.served;
  const database = await cluster.inventory();
  const site = await apiSite(cluster, { database, size });
  say(`  memory during a stream of ${size}`);
  const residents: { readonly sent: number; readonly megabytes: number }[] = [];
  let sent = 0;
  const look = setInterval(
    () => residents.push({ sent, megabytes: site.server.residentBytes() / MEGABYTE }),
    LOOK_EVERY_MS,
  );
  const { rows } = await readWhole(site, (bytes) => (sent += bytes));
  clearInterval(look);
  await site.server.stop();
  const peak = (of: typeof residents): number => Math.max(...of.map(({ megabytes }) => megabytes));
  const settling = residents.filter((one) => one.sent < sent * SETTLING);
  return {
    growth: peak(residents) - peak(settling),
    measurements: [
      {
        ...{
          subject: `stream of ${rows.toLocaleString('en')} assets`,
          variant: 'api',
          figure: 'resident memory',
          unit: 'MB',
        },
        values: residents.map(({ megabytes }) => megabytes),
      },
    ],
  };
}
