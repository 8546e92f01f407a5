import { setTimeout as delay } from 'node:timers/promises';
import type { Arrangement } from '../support/arrangement';
import { killServer } from '../support/postgres-processes';
import { type TemporaryPostgres, startTemporaryPostgres } from '../support/temporary-postgres';
import { counterFaults } from './database-faults';
import { FaultSetting } from './fault-setting';
import { HistoryModel } from './history-model';
import { HistoryReader, type Shown, countsOf, faultsOf, stateFaults } from './history-reads';
import { HistoryWriters, type Random, randomOf } from './history-writers';
import { MINUTE, sized, tell } from './sizes';

const ACTS = sized({ short: 200, long: 10_000 });
const INSTANTS = sized({ short: 8, long: 200 });
const ASSETS = { employees: sized({ short: 8, long: 20 }), others: sized({ short: 60, long: 280 }) };
/** Assets that are also read by id at each instant. */
const BY_ID = 3;
const DAY_MS = 86_400_000;
/** Days of one summary that are counted on request. */
const UNWRITTEN = 3;
/** FAULT_SEED=n repeats what was written, not when. */
const SEED = Number(process.env['FAULT_SEED'] ?? Date.now() % 1_000_000);
const FEW = 5;

/** As in production: acknowledged commits are on disk. */
const DURABLE = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' };
const FREE = { RATE_LIMIT_EXPORT: '100000/100000' };

const ASSET_STREAM = '/v1/inventory/assets?expand=owner';
const COMPUTER_STREAM = '/v1/computers?expand=owner';
const iso = (instant: number): string => new Date(instant).toISOString();

describe('The history under random writes, with instances and Postgres killed', () => {
  let postgres: TemporaryPostgres;
  let setting: FaultSetting;
  let arrange: Arrangement;
  let writers: HistoryWriters;
  let random: Random;
  beforeAll(async () => {
    postgres = await startTemporaryPostgres({ postgresSettings: DURABLE });
    setting = await FaultSetting.open({ postgres });
    await setting.startInstances(FREE, FREE);
    arrange = await setting.enterWorkspace();
    random = randomOf(SEED);
  });
  afterAll(async () => {
    await writers?.end();
    await setting.close();
  });

  it(
    'shows at each instant, by id, in streams, histories and summaries, what acknowledged changes had made by then',
    async () => {
      const elsewhere = await arrange.aWorkspace();
      const { id: foreign } = await arrange.anAsset(elsewhere);
      writers = await HistoryWriters.begin(setting, random, ASSETS);
      expect(await versions()).toBe(0);
      const begin = Date.now();
      const reader = new HistoryReader(() => setting.origins, setting.token);
      const readMeanwhile = new Meanwhile(reader, begin, random);

      await Promise.all([writers.write(ACTS), kills(), readMeanwhile.until(() => writers.done >= ACTS)]);

      const end = Date.now();
      await setting.connect();
      const { commits, faults } = await writers.commits();
      const model = new HistoryModel(commits);
      for (const { instant, assets } of readMeanwhile.reads) {
        faults.push(...faultsOf(model, instant, assets, 'asset', writers.purged));
      }
      const instants = [...new Set(Array.from({ length: INSTANTS }, () => begin + random(end - begin)))];
      instants.sort((a, b) => a - b);
      for (const instant of instants) {
        const asOf = `&asOf=${iso(instant)}`;
        faults.push(...faultsOf(model, instant, await reader.stream(`${ASSET_STREAM}${asOf}`, 'asset'), 'asset'));
        const computers = await reader.stream(`${COMPUTER_STREAM}${asOf}`, 'computer');
        faults.push(...faultsOf(model, instant, computers, 'computer'));
        for (let n = 0; n < BY_ID; n += 1) faults.push(...(await faultsById(reader, model, instant)));
      }
      for (const id of writers.ids) faults.push(...(await historyFaults(reader, model, id)));
      const kept = [...model.timelines.values()].reduce((sum, entries) => sum + entries.length - 1, 0);
      const days = await moveToDays(instants);
      faults.push(...(await summaryFaults(reader, model, instants, days)));

      tell('history', {
        ...{ seed: SEED, acts: writers.done, sets: commits.length, versions: kept, lost: writers.lost },
        ...{ 'reads meanwhile': readMeanwhile.reads.length, purged: writers.purged.size, seconds: (end - begin) / 1e3 },
      });
      expect({ seed: SEED, faults: faults.slice(0, FEW), count: faults.length }).toEqual({
        ...{ seed: SEED, faults: [], count: 0 },
      });
      expect(await versions()).toBe(kept);
      expect(readMeanwhile.reads.length).toBeGreaterThan(0);
      expect(await counterFaults(setting.admin, setting.workspace)).toEqual([]);
      expect((await reader.get(`/v1/inventory/assets/${foreign}/history`)).status).toBe(404);
      expect((await reader.get(`/v1/inventory/assets/${foreign}?asOf=${iso(end)}`)).status).toBe(404);
    },
    sized({ short: 3, long: 30 }) * MINUTE,
  );

  /** Former states in the database. An asset's first import makes none, and neither does one that changes nothing. */
  async function versions(): Promise<number> {
    const text = 'SELECT count(*)::int AS n FROM asset_version WHERE workspace_id = $1';
    return (await setting.admin.query<{ n: number }>(text, [setting.workspace])).rows[0]?.n ?? 0;
  }

  /** Kills an instance, Postgres and the other instance, each in its quarter of the acts. */
  async function kills(): Promise<void> {
    const [one, other] = setting.instances;
    const killed = [
      () => one?.kill().then(() => one.startAgain()),
      async () => {
        killServer(postgres.dataDir);
        await postgres.restart('immediate', 300);
      },
      () => other?.kill().then(() => other.startAgain()),
    ];
    for (const [place, kill] of killed.entries()) {
      while (writers.done < ((place + 1) * ACTS) / 4) await delay(20);
      await kill();
    }
  }

  async function faultsById(reader: HistoryReader, model: HistoryModel, instant: number): Promise<string[]> {
    const id = writers.ids[random(writers.ids.length)] as string;
    const at = model.at(instant);
    const faults: string[] = [];
    for (const [path, item] of [
      ['/v1/inventory/assets', 'asset'],
      ['/v1/computers', 'computer'],
    ] as const) {
      const { status, body } = await reader.get(`${path}/${id}?expand=owner&asOf=${iso(instant)}`);
      const entry = at.get(id);
      const isThere = entry !== undefined && (item === 'asset' || entry.state.categoryKey === 'COMPUTER');
      if (status !== (isThere ? 200 : 404)) faults.push(`${iso(instant)}: ${path}/${id} responds ${status}`);
      else if (isThere) faults.push(...stateFaults(iso(instant), entry, at, body, item));
    }
    return faults;
  }

  async function historyFaults(reader: HistoryReader, model: HistoryModel, id: string): Promise<string[]> {
    const timeline = model.timelines.get(id);
    const path = `/v1/inventory/assets/${id}/history?pageSize=100`;
    const entries: { readonly validFrom: string; readonly validTo: string | null; readonly asset: Shown | null }[] = [];
    for (let cursor: string | null = null; ;) {
      const { status, body } = await reader.get(`${path}${cursor ? `&pageCursor=${cursor}` : ''}`);
      if (status === 404) return timeline ? [`${id} has no history`] : [];
      entries.push(...(body['results'] as typeof entries));
      cursor = (body['pageInfo'] as { readonly endCursor: string | null }).endCursor;
      if (cursor === null) break;
    }
    if (entries.length !== timeline?.length) return [`${id}: ${entries.length} entries, not ${timeline?.length}`];
    return entries.reverse().flatMap(({ validFrom, validTo, asset }, place) => {
      const [entry, next] = [timeline[place], timeline[place + 1]];
      if (!entry) return [];
      const [from, until] = [iso(entry.from), next ? iso(next.from) : null];
      const faults = validFrom === from && validTo === until ? [] : [`${id}: ${validFrom} to ${validTo}`];
      if ((asset !== null) !== entry.state.isVisible) return [...faults, `${id} at ${from}: ${JSON.stringify(asset)}`];
      if (asset === null) return faults;
      const checkedNext = next && next.state.checkedAt !== entry.state.checkedAt ? next.state.checkedAt : null;
      if (checkedNext !== null && asset['lastCheckedAt'] === checkedNext) {
        faults.push(`${id} at ${from}: shows the check-in of the import that ended it`);
      }
      // It shows no owners.
      return [...faults, ...stateFaults(until ?? '9', entry, new Map(), asset, 'asset')];
    });
  }

  /** Moves the past, so that each of the instants is the last one of a day. Returns the days. */
  async function moveToDays(instants: readonly number[]): Promise<string[]> {
    // What came after the last instant goes into yesterday.
    const last = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS - 1;
    const ends = instants.map((_, place) => last - (instants.length - 1 - place) * DAY_MS);
    const moved = (column: string): string => `${column} + make_interval(secs => (
      SELECT end_of_day - instant FROM unnest($2::float8[], $3::float8[]) AS moved (instant, end_of_day)
       WHERE instant >= least(extract(epoch FROM ${column}), $4::float8) ORDER BY instant LIMIT 1))`;
    const values = [
      setting.workspace,
      instants.map((instant) => instant / 1e3),
      ends.map((end) => end / 1e3),
      (instants.at(-1) as number) / 1e3,
    ];
    const client = await setting.admin.connect();
    await client.query('BEGIN');
    for (const [table, column, key] of [
      ['change_set', 'changed_at', 'workspace_id'],
      ['change_head', 'changed_at', 'workspace_id'],
      ['workspace', 'history_begins_at', 'id'],
    ] as const) {
      const rounded = `date_trunc('milliseconds', ${moved(column)} + interval '0.5 milliseconds')`;
      await client.query(`UPDATE ${table} SET ${column} = ${rounded} WHERE ${key} = $1`, values);
    }
    await client.query('COMMIT');
    client.release();
    return ends.map((end) => iso(end).slice(0, 10));
  }

  async function summaryFaults(
    reader: HistoryReader,
    model: HistoryModel,
    instants: readonly number[],
    days: readonly string[],
  ): Promise<string[]> {
    const faults: string[] = [];
    for (let first = 0; first < days.length; first += UNWRITTEN) {
      const some = days.slice(first, first + UNWRITTEN);
      const query = `?from=${some[0]}&to=${some.at(-1)}`;
      const assets = (await reader.get(`/v1/inventory/summary${query}`)).body['results'] as Shown[];
      const computers = (await reader.get(`/v1/computers/summary${query}`)).body['results'] as Shown[];
      for (const [place, date] of some.entries()) {
        const right = countsOf(model, instants[first + place] as number);
        const head = { date, isFinal: true };
        for (const [found, wanted] of [
          [assets[place], { ...head, categories: right.assets }],
          [computers[place], { ...head, ...(right.computers as object) }],
        ]) {
          const [is, should] = [JSON.stringify(found), JSON.stringify(wanted)];
          if (is !== should) faults.push(`${is} in place of ${should}`);
        }
      }
    }
    return faults;
  }
});

/** Reads streams of random instants while others write, because answers are final. */
class Meanwhile {
  readonly reads: { readonly instant: number; readonly assets: readonly Shown[] }[] = [];

  constructor(
    private readonly reader: HistoryReader,
    private readonly begin: number,
    private readonly random: Random,
  ) {}

  async until(isOver: () => boolean): Promise<void> {
    for (; !isOver(); await delay(sized({ short: 50, long: 500 }))) {
      // Often just now, where changes are under way.
      const age = this.random(2) === 0 ? 0 : this.random(Date.now() - this.begin);
      const instant = Date.now() - age;
      this.reads.push({ instant, assets: await this.reader.stream(`${ASSET_STREAM}&asOf=${iso(instant)}`, 'asset') });
    }
  }
}
