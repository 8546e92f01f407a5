import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Findings } from '../findings';
import type { Setting } from '../setting';
import { median, medianRatio, milliseconds } from '../statistics';
import type { TargetName } from '../targets';
import { takeTurns } from '../turns';
import { ServedApi } from '../updates/served-api';
import { timesOf } from '../updates/compared-updates';

const ASSETS = '/v1/inventory/assets';
/** Assets that are read by id. Each has ten entries in its history, and is read as of the fifth. */
const READ = 100;
const ENTRIES = 10;
const READS_PER_TURN = 200;
const TURNS_BY_ID = 4;
/** The share of the assets that changed after the instant of a stream. */
const CHANGED = 0.1;
const BULK = 100;
/** A place is free this long after its stream ended. */
const FREE_MS = 50;

const VARIANTS = ['asOf', 'plain'] as const;

/** Reads by id and whole streams of the largest workspace, as of an instant and as it is now, in turn. */
export async function benchmarkPast({ cluster, sizes, say }: Setting): Promise<Findings> {
  const size = sizes.workspaces.at(-1) ?? sizes.served;
  const database = await cluster.aDatabase();
  const api = await ServedApi.start(cluster, database, await database.workspace(size));
  const { rows } = await database.admin.query<{ id: string }>(
    'SELECT public_id AS id FROM asset WHERE facet IS NOT NULL AND sub_key <> 15 ORDER BY md5(public_id::text)',
  );
  const ids = rows.map(({ id }) => id);
  const change = (some: readonly string[], description: string): Promise<string> =>
    api.patch(ASSETS, randomUUID(), { ids: some, patch: { description } }, 'first');
  const read = ids.slice(0, READ);
  let middle = '';
  for (let entry = 2; entry <= ENTRIES; entry += 1) {
    await change(read, `Reviewed ${entry}`);
    if (entry === ENTRIES / 2) middle = await later();
  }
  await database.admin.query('VACUUM ANALYZE');
  say('  reads by id: as of an instant and plain in turn');
  let turn = 0;
  const byId = await takeTurns(
    VARIANTS,
    { rounds: sizes.rounds, turns: TURNS_BY_ID },
    async (variant) => {
      const elapsed: number[] = [];
      for (let n = 0; n < READS_PER_TURN; n += 1) {
        const path = `${ASSETS}/${read[(turn += 1) % READ]}${variant === 'asOf' ? `?asOf=${middle}` : ''}`;
        elapsed.push(await milliseconds(() => api.get(path)));
      }
      return median(elapsed);
    },
    median,
  );
  say(`  changing a tenth of ${rows.length} assets`);
  const instant = await later();
  const changed = ids.slice(READ, READ + Math.ceil(rows.length * CHANGED));
  for (let first = 0; first < changed.length; first += BULK)
    await change(changed.slice(first, first + BULK), 'Changed');
  await database.admin.query('VACUUM ANALYZE');
  say('  streams: as of an instant and plain in turn');
  const streams = await takeTurns(
    VARIANTS,
    { rounds: sizes.longRounds, turns: 1, warmUpRounds: 0 },
    async (variant) => {
      const elapsed = await api.stream(`${ASSETS}${variant === 'asOf' ? `?asOf=${instant}` : ''}`);
      await delay(FREE_MS);
      return elapsed;
    },
    median,
  );
  await api.stop();
  await database.drop();
  return {
    measurements: [...timesOf('read by id', 'ms', byId), ...timesOf(`stream of ${size}`, 'ms', streams)],
    measured: {
      'past-read': medianRatio(byId.asOf, byId.plain),
      'past-stream': medianRatio(streams.plain, streams.asOf),
    } satisfies Partial<Record<TargetName, number>>,
  };
}

/** An instant behind everything so far. */
async function later(): Promise<string> {
  await delay(5);
  const now = new Date().toISOString();
  await delay(5);
  return now;
}
