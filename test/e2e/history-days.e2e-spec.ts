import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { workspaceId } from '#libs/kernel';
import { DayCounts, History } from '#libs/platform/changes';
import type { Settings } from '#libs/platform/config';
import { Database } from '#libs/platform/database';
import { Metrics } from '#libs/platform/observability';
import { HistoryRetention } from '../../libs/inventory/src/history/typeorm/history-retention';
import { HistoryWork } from '../../libs/inventory/src/history/typeorm/history-work';
import { openDataSource } from '../support/database-connection';
import type { ApiClient } from '../support/api-client';
import { type TestApp, startApp } from '../support/start-app';
import { someoneWaits } from '../support/waiting-sessions';

const ASSETS = '/v1/inventory/assets';
const COMPUTERS = '/v1/computers';
/** The times of a workspace: table, column, and the column with its id. */
const TIMES = [
  ['change_set', 'changed_at', 'workspace_id'],
  ['change_head', 'changed_at', 'workspace_id'],
  ['workspace', 'history_begins_at', 'id'],
];

describe('The history by day', () => {
  let app: TestApp;
  let workspace: string;
  let client: ApiClient;

  beforeAll(async () => {
    // The tests remove former states themselves.
    app = await startApp({ HISTORY_RETENTION_DAYS: '0' });
  });
  afterAll(() => app.stop());
  beforeEach(async () => {
    workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace);
  });

  const describeAs = async (id: string, description: string): Promise<void> => {
    expect((await client.patch(`${ASSETS}/${id}`, { description })).status).toBe(200);
  };
  const SUMMARY = '/v1/inventory/summary';
  type Day = Readonly<{ date: string; isFinal: boolean; categories: readonly Record<string, unknown>[] }>;
  const days = async (path: string): Promise<Day[]> => {
    const { status, body } = await client.get<{ results: Day[] }>(path);
    expect(status).toBe(200);
    return body.results;
  };
  const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  /** Moves everything of the workspace so many days back, as if it had happened then. */
  const moveBack = async (by: number): Promise<void> => {
    for (const [table, column, key] of TIMES) {
      const back = `UPDATE ${table} SET ${column} = ${column} - make_interval(days => $2) WHERE ${key} = $1`;
      await app.arrange.change(workspace, back, [workspace, by]);
    }
  };
  let history: History;
  let work: HistoryWork;
  let retentionOf: (historyRetentionDays: number) => HistoryRetention;
  let retention: HistoryRetention;
  let dataSource: DataSource;
  let database: Database;
  beforeAll(async () => {
    dataSource = await openDataSource(app.database.databaseUrl, 2);
    database = new Database(dataSource);
    history = new History(database);
    work = new HistoryWork(database, history);
    retentionOf = (historyRetentionDays) =>
      new HistoryRetention(database, { ...app.settings, historyRetentionDays } as Settings, new Metrics());
    retention = retentionOf(400);
  });
  afterAll(() => dataSource.destroy());

  it('counts today as it is now, with all five categories and four checks', async () => {
    const { id: owner } = await app.arrange.anEmployee(workspace);
    const posture = { agent_version: '2.4.0', antivirus_installed: true, disk_encryption_enabled: false };
    await app.arrange.anAsset(workspace, { type: 'COMPUTER', posture, ownerId: owner, classification: 'INTERNAL' });
    await app.arrange.anAsset(workspace, { type: 'COMPUTER', description: 'plain' });
    await app.arrange.anAsset(workspace, { type: 'COMPUTER', visibility: 'HIDDEN' });

    const [today, ...others] = await days(SUMMARY);
    expect([today?.date, today?.isFinal, others]).toEqual([day(0), false, []]);
    expect(today?.categories.map(({ categoryKey, total }) => [categoryKey, total])).toEqual([
      ['CLOUD', 0],
      ['COMPUTER', 2],
      ['CUSTOM', 0],
      ['INFORMATION', 0],
      ['EMPLOYEE', 1],
    ]);
    expect(today?.categories[1]).toEqual({
      ...{ categoryKey: 'COMPUTER', total: 2, withOwner: 1, withDescription: 1 },
      classification: { CONFIDENTIAL: 0, INTERNAL: 1, PUBLIC: 0, UNKNOWN: 1 },
    });
    expect((await days(`${COMPUTERS}/summary`))[0]).toEqual({
      ...{ date: day(0), isFinal: false, total: 2, monitored: 1 },
      checks: {
        ANTIVIRUS: { passing: 1, failing: 0, unknown: 1 },
        DISK_ENCRYPTION: { passing: 0, failing: 1, unknown: 1 },
        PASSWORD_MANAGER: { passing: 0, failing: 0, unknown: 2 },
        SCREEN_LOCK: { passing: 0, failing: 0, unknown: 2 },
      },
    });
  });

  it('counts past days at their last instant, before and after they are written', async () => {
    const { id, internalId } = await app.arrange.anAsset(workspace);
    const { internalId: computer } = await app.arrange.anAsset(workspace, { type: 'COMPUTER' });
    const { internalId: shown } = await app.arrange.anAsset(workspace, { type: 'COMPUTER', visibility: 'HIDDEN' });
    await moveBack(1);
    await describeAs(id, 'the next day');
    await moveBack(1);
    const turn = 'UPDATE asset SET visibility = 1 - visibility WHERE workspace_id = $1 AND id IN ($2, $3, $4)';
    await app.arrange.change(workspace, turn, [workspace, internalId, computer, shown]);
    await app.arrange.manyAssets(workspace, 2);

    const path = `${SUMMARY}?from=${day(3)}`;
    const custom = (counted: Day[]) =>
      counted.map(({ date, isFinal, categories }) => [
        ...[date, isFinal, categories[2]?.['total'], categories[2]?.['withDescription']],
      ]);
    const expected = [
      [day(2), true, 1, 0],
      [day(1), true, 1, 1],
      [day(0), false, 2, 0],
    ];
    expect(custom(await days(path))).toEqual(expected);
    const computers = expected.map(() => ({ total: 1 }));
    expect(await days(`${COMPUTERS}/summary?from=${day(3)}`)).toMatchObject(computers);
    for (let written = 0; written < 2; written += 1) await work.round();
    expect(custom(await days(path))).toEqual(expected);
    expect(await days(`${COMPUTERS}/summary?from=${day(3)}`)).toMatchObject(computers);
    expect(custom(await days(`${SUMMARY}?to=${day(2)}`))).toEqual(expected.slice(0, 1));
  });

  it('counts the last of several changes in the last millisecond of a day', async () => {
    const { id } = await app.arrange.anAsset(workspace);
    await describeAs(id, 'one');
    const end = new Date(`${day(1)}T23:59:59.999Z`);
    for (const [table, column, key] of TIMES) {
      const move = `UPDATE ${table} SET ${column} = $2 WHERE ${key} = $1`;
      await app.arrange.change(workspace, move, [workspace, end]);
    }
    await describeAs(id, '');

    const counted = (await days(`${SUMMARY}?from=${day(1)}`)).map(({ categories }) => categories[2]);
    expect(counted).toMatchObject([
      { total: 1, withDescription: 1 },
      { total: 1, withDescription: 0 },
    ]);
  });

  it('counts a past day once a change that is being committed is there', async () => {
    const { admin } = app.database;
    await moveBack(1);
    await admin.query('BEGIN');
    await app.arrange.anAsset(workspace);
    await admin.query('SET CONSTRAINTS ALL IMMEDIATE');
    // As if it had begun before midnight.
    const move = 'UPDATE change_set SET changed_at = $2 WHERE workspace_id = $1';
    await app.arrange.change(workspace, move, [workspace, new Date(`${day(1)}T23:59:59.999Z`)]);
    const counting = days(`${SUMMARY}?to=${day(1)}`);
    const writing = work.round();
    await Promise.race([writing, someoneWaits(app.database, 2)]);
    await admin.query('COMMIT');

    expect((await counting)[0]?.categories[2]).toMatchObject({ total: 1 });
    await writing;
    const { rows } = await admin.query('SELECT day::text FROM day_count WHERE workspace_id = $1', [workspace]);
    expect(rows).toEqual([{ day: day(1) }]);
    expect((await days(`${SUMMARY}?to=${day(1)}`))[0]?.categories[2]).toMatchObject({ total: 1 });
  });

  it('asks to come again while many days are to be written', async () => {
    await app.arrange.anAsset(workspace);
    await moveBack(4);
    const { status, headers } = await client.get(`${SUMMARY}?from=${day(4)}`);
    expect([status, headers.get('Retry-After')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
    for (let written = 0; written < 4; written += 1) await work.round();
    expect(await days(`${SUMMARY}?from=${day(9)}`)).toHaveLength(5);
  });

  it('leaves a day out whose former states are forgotten before it is counted', async () => {
    await moveBack(2);
    const forget = () =>
      app.arrange.change(workspace, 'UPDATE workspace SET history_begins_at = now() WHERE id = $1', [workspace]);
    const writing = jest.spyOn(history, 'waitUntilOver').mockImplementation(async () => void (await forget()));
    await work.round();
    writing.mockRestore();
    const { rows } = await app.database.admin.query('SELECT FROM day_count WHERE workspace_id = $1', [workspace]);
    expect(rows).toEqual([]);

    await moveBack(1);
    const read = database.read.bind(database);
    const reading = jest.spyOn(database, 'read').mockImplementation(async (scope, statements) => {
      const found = await read(scope, statements);
      await forget();
      return found;
    });
    const counted = await new DayCounts(database).days(workspaceId(workspace), 'assets', { from: day(1) });
    reading.mockRestore();
    expect(counted.map(({ date }) => date)).toEqual([day(0)]);
  });

  it('reads as often for days that are not written as for today', async () => {
    await moveBack(3);
    const readsOf = async (path: string, wanted: number): Promise<number> => {
      const reads = jest.spyOn(Database.prototype, 'read');
      expect(await days(path)).toHaveLength(wanted);
      const { length } = reads.mock.calls;
      reads.mockRestore();
      return length;
    };
    expect(await readsOf(`${SUMMARY}?from=${day(3)}`, 4)).toBe(await readsOf(SUMMARY, 1));
  });

  describe('with a workspace whose days are slow or fail', () => {
    /** Does this before each day of the workspace. */
    const plant = (statement: string): Promise<unknown> =>
      app.database.admin.query(`
        CREATE OR REPLACE FUNCTION planted() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN IF NEW.workspace_id = '${workspace}' THEN ${statement}; END IF; RETURN NEW; END $$;
        CREATE TRIGGER planted BEFORE INSERT ON day_count FOR EACH ROW EXECUTE FUNCTION planted()`);
    const written = async (of: string): Promise<string[]> => {
      const { rows } = await app.database.admin.query<{ day: string }>(
        `SELECT to_char(day, 'YYYY-MM-DD') AS day FROM day_count WHERE workspace_id = $1 ORDER BY day`,
        [of],
      );
      return rows.map((row) => row.day);
    };
    let warned: jest.SpyInstance;
    beforeEach(() => {
      warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    });
    afterEach(async () => {
      warned.mockRestore();
      await app.database.admin.query('DROP TRIGGER IF EXISTS planted ON day_count');
    });

    it('gives a day ten minutes, longer than a request has, because later days wait for it', async () => {
      await moveBack(1);
      await plant(`
        PERFORM pg_sleep(5.7);
        IF current_setting('statement_timeout') <> '10min' THEN RAISE EXCEPTION 'no time'; END IF`);

      await work.round();

      expect(warned).not.toHaveBeenCalled();
      expect(await written(workspace)).toEqual([day(1)]);
    });

    it('ends the count of a day when the instance stops', async () => {
      await moveBack(1);
      await plant('PERFORM pg_sleep(100)');
      const stopping = new HistoryWork(database, history);
      const counting = stopping.round().catch((error: Error) => error.message);
      const SLEEPING = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`;
      while ((await app.database.admin.query(SLEEPING)).rowCount === 0);

      await stopping.beforeApplicationShutdown();

      expect(await counting).toBe('The process stops.');
      expect([await written(workspace), warned.mock.calls]).toEqual([[], []]);
    });

    it('writes the days of others while another instance counts one', async () => {
      await moveBack(2);
      const counted = workspace;
      workspace = await app.arrange.aWorkspace();
      await moveBack(1);
      const { admin } = app.database;
      await admin.query('BEGIN');
      await admin.query(`SELECT pg_advisory_xact_lock(hashtextextended('history days ' || $1, 0))`, [counted]);

      await work.round();
      await admin.query('ROLLBACK');

      expect([await written(counted), await written(workspace)]).toEqual([[], [day(1)]]);
    });

    it('writes the days of others when a day fails', async () => {
      await moveBack(600);
      const failing = workspace;
      await plant(`RAISE EXCEPTION 'no day'`);
      workspace = await app.arrange.aWorkspace();
      await moveBack(2);

      await work.round();

      expect([await written(failing), await written(workspace)]).toEqual([[], [day(2)]]);
      expect(warned.mock.calls).toEqual([
        [expect.objectContaining({ message: 'a day was not counted', workspaceId: failing, day: day(600) })],
      ]);
    });
  });

  it.each([
    [`from=${day(0)}&to=${day(1)}`, 'from'],
    [`from=${day(-2)}`, 'from'],
    [`to=${day(-2)}`, 'to'],
    [`from=${day(400)}`, 'from'],
    ['from=2026-02-30', 'from'],
    ['to=yesterday', 'to'],
  ])('refuses %s', async (query, parameter) => {
    for (const path of [SUMMARY, `${COMPUTERS}/summary`]) {
      const { status, body } = await client.get(`${path}?${query}`);
      expect([status, body['errors']]).toEqual([400, [expect.objectContaining({ parameter })]]);
    }
  });

  it('goes with retention: states that ended before it are removed, and the first instant moves, but days stay', async () => {
    const { id } = await app.arrange.anAsset(workspace);
    const path = `${ASSETS}/${id}/history`;
    await describeAs(id, 'one');
    const { pageInfo: early } = await client.page(path, { pageSize: '1' });
    await moveBack(1);
    await describeAs(id, 'two');
    await moveBack(500);
    await work.round();
    await describeAs(id, 'three');
    const descriptions = async () =>
      (await client.page(path)).results.map(({ asset }) => (asset as Record<string, unknown>)['description']);
    expect(await descriptions()).toEqual(['three', 'two', 'one', null]);

    const { pageInfo, results } = await client.page(path, { pageSize: '3' });
    const removed = results[2]?.['validFrom'] as string;
    expect((await client.get(`${ASSETS}/${id}?asOf=${removed}`)).body['description']).toBe('one');
    const young = await app.arrange.aClient(await app.arrange.aWorkspace());
    await retentionOf(0).round();
    expect(await descriptions()).toEqual(['three', 'two', 'one', null]);
    await retention.round();

    expect(await descriptions()).toEqual(['three', 'two']);
    expect(await days(`${SUMMARY}?to=${day(501)}`)).toMatchObject([{ date: day(501), isFinal: true }]);
    for (const { endCursor } of [early, pageInfo]) {
      expect((await client.page(path, { pageCursor: endCursor as string })).results).toEqual([]);
    }
    expect((await client.get(`${ASSETS}/${id}?asOf=${removed}`)).status).toBe(400);
    const later = new Date(Date.now() - 399 * 86_400_000).toISOString();
    expect((await client.get(`${ASSETS}/${id}?asOf=${later}`)).body['description']).toBe('two');
    // A younger workspace has no longer history.
    expect((await young.get(`${ASSETS}/${id}?asOf=${later}`)).status).toBe(400);
  });

  it('removes in each round what became too old since the one before', async () => {
    const { id } = await app.arrange.anAsset(workspace);
    await describeAs(id, 'one');
    await retention.round();
    await moveBack(400);
    await describeAs(id, 'two');

    await retention.round();

    const { results } = await client.page(`${ASSETS}/${id}/history`);
    expect(results).toMatchObject([{ asset: { description: 'two' } }, { asset: { description: 'one' } }]);
  });

  /** Former states of two assets, of 500 days ago. The transaction of the first began earlier, and ended then. */
  const aLongAndAShort = async (endedAt: string) => {
    const [long, short] = [await app.arrange.anAsset(workspace), await app.arrange.anAsset(workspace)];
    for (const { id } of [long, short]) await describeAs(id, 'one');
    await moveBack(500);
    await app.arrange.change(
      workspace,
      `UPDATE change_set SET changed_at = ${endedAt} WHERE workspace_id = $1
          AND id = (SELECT to_change FROM asset_version WHERE workspace_id = $1 AND public_id = $2)`,
      [workspace, long.id],
    );
    return [long, short] as const;
  };

  it('keeps a state that ended lately, by a transaction that began before older ones', async () => {
    const [long, short] = await aLongAndAShort('now()');

    await retention.round();

    const statesOf = async ({ id }: { readonly id: string }): Promise<number> =>
      (await client.page(`${ASSETS}/${id}/history`)).results.length;
    expect([await statesOf(long), await statesOf(short)]).toEqual([2, 1]);
  });

  it('removes a state that a shorter transaction ended before an older one, where nothing follows', async () => {
    await aLongAndAShort("changed_at + interval '1 hour'");

    await retention.round();

    expect(await statesOf()).toBe(0);
  });

  /** More change sets than go at once, of 500 days ago. Their numbers, from 1, are the descriptions of a thousand assets. */
  const twoBatches = async (): Promise<void> => {
    await app.arrange.manyAssets(workspace, 1_000);
    for (let set = 1; set <= 21; set += 1) {
      const end = `UPDATE asset SET description = $2::text, change_id = 1000000000 + $2::int, version = version + 1
                    WHERE workspace_id = $1`;
      await app.arrange.change(workspace, end, [workspace, set]);
      const ticket = `SELECT take_change_ticket($1, 1000000000 + $2::int, 2::smallint, 'x', NULL)`;
      await app.arrange.change(workspace, ticket, [workspace, set]);
    }
    const each = `UPDATE change_set SET changed_at = changed_at + (id - 1000000000) * interval '1 second'
                   WHERE workspace_id = $1 AND id > 1000000000`;
    await app.arrange.change(workspace, each, [workspace]);
    await moveBack(500);
  };

  it('removes in one round more than one batch, whatever is known of the table', async () => {
    await twoBatches();

    await retention.round();

    expect(await statesOf()).toBe(0);
  });

  it('shows nothing of before the end of a state that went, while others are still to go', async () => {
    await twoBatches();
    const { admin } = app.database;
    const { rows } = await admin.query<{ ended: Date; id: string }>(
      `SELECT changed_at AS ended, (SELECT public_id FROM asset WHERE workspace_id = $1 LIMIT 1) AS id
         FROM change_set WHERE workspace_id = $1 AND id = 1000000019`,
      [workspace],
    );
    const { ended, id } = rows[0] as { ended: Date; id: string };

    await admin.query('SELECT forget_versions(400)');

    expect(await statesOf()).toBe(2_000);
    const at = async (time: number) => client.get(`${ASSETS}/${id}?asOf=${new Date(time).toISOString()}`);
    expect((await at(ended.getTime())).body).toMatchObject({ description: '19' });
    expect((await at(ended.getTime() - 1)).body['detail']).toContain(ended.toISOString());
  });

  const statesOf = async (): Promise<number | null> =>
    (await app.database.admin.query('SELECT FROM asset_version WHERE workspace_id = $1', [workspace])).rowCount;
});
