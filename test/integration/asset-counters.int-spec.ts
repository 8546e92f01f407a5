import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { Database } from '#libs/platform/database';
import { AssetCounters, type CounterReconciliation } from '../../libs/inventory/src/assets/typeorm/asset-counters';
import { EMPLOYEE, ImportSetting, LAPTOP, RECORDS } from '../support/import-setting';

const CUSTOM = 13;
const INFORMATION = 14;
const DATA_SETS = 60;

describe('Counters of assets', () => {
  let setting: ImportSetting;
  let counters: AssetCounters;
  const clients: Client[] = [];
  const reconcile = (): Promise<CounterReconciliation> => counters.reconcile(setting.here);

  /** Opens a connection for another writer in the current workspace. */
  const connect = async (): Promise<Client> => {
    const client = new Client({ connectionString: setting.database.migrationDatabaseUrl });
    clients.push(client);
    await client.connect();
    await client.query(`SELECT set_config('app.workspace_id', $1, false)`, [setting.here]);
    return client;
  };
  /** Resolves once this many connections of the database wait for a lock. */
  const waiting = async (connections: number): Promise<void> => {
    for (let now = -1; now !== connections; await delay(10)) {
      const { rows } = await setting.database.admin.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      now = rows[0]?.n ?? 0;
    }
  };
  const classify = (externalId: string, classification: number): string =>
    `UPDATE asset SET classification = ${classification} WHERE workspace_id = '${setting.here}' AND external_id = '${externalId}'`;

  beforeAll(async () => {
    setting = await ImportSetting.open();
    counters = new AssetCounters(new Database(setting.dataSource));
  });
  beforeEach(async () => {
    await setting.enterWorkspace();
    const dataSets = Array.from({ length: DATA_SETS }, (_, index) => ({ ...RECORDS, externalId: `ds-${index}` }));
    await setting.importAll(EMPLOYEE, { ...EMPLOYEE, externalId: 'hr-18' }, ...dataSets);
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.end()));
    expect(await setting.wrongCounters()).toEqual([]);
  });
  afterAll(() => setting.close());

  it('are found right and stay unwritten when nobody tampered with them', async () => {
    await setting.change(
      `UPDATE asset SET visibility = 1 WHERE workspace_id = '${setting.here}' AND external_id = 'ds-0'`,
    );
    const before = await setting.everything();
    expect(await reconcile()).toEqual({ assets: DATA_SETS + 1, wrong: [], wrongValues: [], wrongComputers: 0 });
    expect(await setting.everything()).toBe(before);
  });

  it('are repaired with the postures by which filters find computers, also of one that changes meanwhile', async () => {
    const laptops = ['c-1', 'c-2', 'c-3'].map((externalId) => ({ ...LAPTOP, owner: undefined, externalId }));
    await setting.importAll(...laptops);
    const here = `workspace_id = '${setting.here}'`;
    await setting.change(`UPDATE asset SET posture = NULL WHERE ${here} AND external_id IN ('c-1', 'c-2')`);
    const writer = await connect();
    await writer.query(`BEGIN; UPDATE asset SET posture = 0 WHERE ${here} AND external_id = 'c-1'`);
    const repairing = reconcile();
    await waiting(1);
    await writer.query(`DELETE FROM computer WHERE ${here} AND asset_id = (
      SELECT id FROM asset WHERE ${here} AND external_id = 'c-1'); COMMIT`);
    await repairing;
    await reconcile();

    expect(await setting.wrongCounters()).toEqual([]);
    expect(await reconcile()).toMatchObject({ wrong: [], wrongValues: [], wrongComputers: 0 });
  });

  it('are repaired by value, and name it with type and facet', async () => {
    await setting.importAll({ ...RECORDS, tags: [{ key: 'env' }] });
    await setting.change(`UPDATE tag_count SET n = n + 4 WHERE workspace_id = '${setting.here}';
      DELETE FROM source_count WHERE workspace_id = '${setting.here}' AND sub_key = 15`);

    expect((await reconcile()).wrongValues).toEqual([
      { filter: 'tagKey', value: 'env INFORMATION 0', counted: 5, actual: 1 },
      { filter: 'source', value: 'test EMPLOYEE 0', counted: 0, actual: 2 },
    ]);
    expect((await reconcile()).wrongValues).toEqual([]);
  });

  it('are repaired when too high, too low, missing or of assets that do not exist', async () => {
    await setting.change(classify('ds-1', 2));
    await setting.change(`UPDATE facet_count SET n = n + 7 WHERE workspace_id = '${setting.here}' AND sub_key = ${INFORMATION} AND facet = 0;
      UPDATE facet_count SET n = -1 WHERE workspace_id = '${setting.here}' AND sub_key = ${INFORMATION} AND facet = 8;
      DELETE FROM facet_count WHERE workspace_id = '${setting.here}' AND sub_key = 15;
      INSERT INTO facet_count VALUES ('${setting.here}', ${CUSTOM}, 5, 3)`);
    expect(await reconcile()).toEqual({
      assets: DATA_SETS + 2,
      wrong: [
        { subKey: 'CUSTOM', facet: 5, counted: 3, actual: 0 },
        { subKey: 'INFORMATION', facet: 0, counted: DATA_SETS + 6, actual: DATA_SETS - 1 },
        { subKey: 'INFORMATION', facet: 8, counted: -1, actual: 1 },
        { subKey: 'EMPLOYEE', facet: 0, counted: 0, actual: 2 },
      ],
      wrongValues: [],
      wrongComputers: 0,
    });
    expect(await reconcile()).toEqual({ assets: DATA_SETS + 2, wrong: [], wrongValues: [], wrongComputers: 0 });
  });

  it('are repaired in one workspace without reading another', async () => {
    const first = setting.here;
    await setting.change(`UPDATE facet_count SET n = n + 7 WHERE workspace_id = '${first}'`);
    await setting.enterWorkspace();
    expect(await reconcile()).toEqual({ assets: 0, wrong: [], wrongValues: [], wrongComputers: 0 });
    setting.here = first;
    expect((await reconcile()).wrong).toHaveLength(2);
  });

  describe('during a repair while assets change', () => {
    const tamper = (): Promise<void> =>
      setting.change(
        `UPDATE facet_count SET n = n + 7 WHERE workspace_id = '${setting.here}' AND sub_key = ${INFORMATION}`,
      );

    it('include a change that was open during the count and one that waited for the counter', async () => {
      await tamper();
      const [open, late] = await Promise.all([connect(), connect()]);
      await open.query(`BEGIN; ${classify('ds-1', 1)}`);
      const repair = reconcile();
      await waiting(1);
      const change = late.query(classify('ds-2', 2));
      await waiting(2);
      await open.query('COMMIT');
      expect((await repair).wrong).toEqual([
        { subKey: 'INFORMATION', facet: 0, counted: DATA_SETS + 7, actual: DATA_SETS },
      ]);
      await change;
    });

    it('stay right when a change is rolled back', async () => {
      await tamper();
      const open = await connect();
      await open.query(`BEGIN; ${classify('ds-1', 1)}`);
      const repair = reconcile();
      await waiting(1);
      await open.query('ROLLBACK');
      expect((await repair).wrong).toHaveLength(1);
    });

    it('are repaired once when two commands find them together', async () => {
      await tamper();
      const open = await connect();
      await open.query(`BEGIN; ${classify('ds-1', 1)}`);
      const repairs = [reconcile(), reconcile()];
      await waiting(2);
      await open.query('COMMIT');
      expect((await Promise.all(repairs)).map(({ wrong }) => wrong.length).sort()).toEqual([0, 1]);
    });

    it('are locked in the order of their keys, like by every writer', async () => {
      await setting.change(`
        INSERT INTO source_count SELECT '${setting.here}', 'a' || n, ${CUSTOM}, 0, 3 FROM generate_series(1, 1000) AS n;
        ANALYZE source_count`);
      const writer = await connect();
      await writer.query(`BEGIN; UPDATE source_count SET n = n WHERE source = 'a1'`);
      const repair = reconcile();
      await waiting(1);
      // The repair waits for the first one and holds none of the others.
      await writer.query('SELECT FROM source_count FOR UPDATE NOWAIT; COMMIT');
      expect((await repair).wrongValues).toHaveLength(1_000);
    });

    it('block no update while assets are counted', async () => {
      await tamper();
      const [counting, writer] = await Promise.all([connect(), connect()]);
      // The lock simulates a count of millions: the repair cannot finish counting.
      await counting.query(`BEGIN; LOCK TABLE asset IN ACCESS EXCLUSIVE MODE`);
      const repair = reconcile();
      await waiting(1);
      await writer.query(`SET lock_timeout = 1000; UPDATE facet_count SET n = n WHERE sub_key = ${INFORMATION}`);
      await counting.query('COMMIT');
      expect((await repair).wrong).toHaveLength(1);
    });
  });

  it('stay exact at every moment under random updates and imports of several connections', async () => {
    const { rows } = await setting.database.admin.query<{ public_id: string }>(
      'SELECT public_id FROM asset WHERE workspace_id = $1 AND sub_key = 15 ORDER BY id',
      [setting.here],
    );
    const owners = rows.map(({ public_id: id }) => `'${id}', owner_source = 2`);
    const either = (...values: readonly (string | number)[]): string =>
      String(values[Math.floor(Math.random() * values.length)]);
    const change = (): string =>
      either(
        `classification = ${either(0, 1, 2, 3)}`,
        `description = ${either('NULL', "''", "'x'")}`,
        `owner_id = ${either('NULL, owner_source = NULL', ...owners)}`,
        `visibility = ${either(0, 0, 1, 2)}`,
      );
    let done = false;
    const write = async (): Promise<void> => {
      const client = await connect();
      for (let update = 0; update < 60; update += 1) {
        const names = Array.from(
          { length: update % 3 === 0 ? 20 : 1 },
          () => `ds-${either(...Array(DATA_SETS).keys())}`,
        );
        await client.query('BEGIN');
        await client.query(
          'SELECT FROM asset WHERE workspace_id = $1 AND external_id = ANY ($2) ORDER BY id FOR NO KEY UPDATE',
          [setting.here, names],
        );
        await client.query(`UPDATE asset SET ${change()} WHERE workspace_id = $1 AND external_id = ANY ($2)`, [
          setting.here,
          names,
        ]);
        await client.query(update % 7 === 0 ? 'ROLLBACK' : 'COMMIT');
      }
    };
    const bringIn = async (source: string): Promise<void> => {
      for (let round = 0; round < 4; round += 1) {
        const records = Array.from({ length: 80 }, (_, index) => ({
          ...RECORDS,
          externalId: source === 'test' ? `ds-${index}` : randomUUID(),
          classification: either('PUBLIC', 'INTERNAL', 'CONFIDENTIAL'),
          visibility: either('ACTIVE', 'HIDDEN'),
        }));
        const report = await setting.run(setting.ndjson(...records), { source });
        expect(report.failed).toBe(0);
      }
    };
    const watch = async (): Promise<number> => {
      let counts = 0;
      for (; !done; counts += 1) expect((await reconcile()).wrong).toEqual([]);
      return counts;
    };
    const watched = watch();
    await Promise.all([write(), write(), write(), bringIn('test'), bringIn('other')]).finally(() => (done = true));
    expect(await watched).toBeGreaterThan(3);
  });
});
