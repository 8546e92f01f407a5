import { Client } from 'pg';
import { Database } from '#libs/platform/database';
import { ListedComputers } from '../../libs/computers/src/typeorm/listed-computers';
import { ListExistingComputers1780000000061 } from '../../libs/computers/src/typeorm/migrations/1780000000061-list-existing-computers';
import { ImportSetting, LAPTOP, type Row } from '../support/import-setting';

const COMPUTERS = 40;
const oneOf = <Value>(values: readonly Value[]): Value => values[Math.floor(Math.random() * values.length)] as Value;
const CHECK = [true, false, null];

/** What the list of computers should hold, read from the inventory itself. */
const WANTED = `
  SELECT asset.workspace_id, asset.id, owner_id, source, last_checked_at,
         CASE WHEN is_monitored THEN 81 ELSE 0 END
         + 27 * CASE antivirus_installed WHEN true THEN 2 WHEN false THEN 1 ELSE 0 END
         + 9 * CASE disk_encryption_enabled WHEN true THEN 2 WHEN false THEN 1 ELSE 0 END
         + 3 * CASE password_manager_installed WHEN true THEN 2 WHEN false THEN 1 ELSE 0 END
         + CASE screen_lock_enabled WHEN true THEN 2 WHEN false THEN 1 ELSE 0 END AS posture
    FROM visible_computer AS asset`;
const LISTED = 'SELECT workspace_id, id, owner_id, source, last_checked_at, posture::int FROM listed_computer';

describe('Counts of computers', () => {
  let setting: ImportSetting;
  const clients: Client[] = [];
  beforeAll(async () => {
    setting = await ImportSetting.open();
  });
  afterAll(() => setting.close());
  beforeEach(() => setting.enterWorkspace());
  afterEach(() => Promise.all(clients.splice(0).map((client) => client.end())));

  /** Rows of the list that differ from the inventory, and counts that differ from the list, in any workspace. */
  const wrong = async (): Promise<Row[][]> => {
    const listed = await setting.database.admin.query<Row>(
      `(${WANTED} EXCEPT ${LISTED}) UNION ALL (${LISTED} EXCEPT ${WANTED})`,
    );
    const counted = await setting.database.admin.query<Row>(`
      SELECT workspace_id, kind, key, source, sum(n) FROM (
        SELECT workspace_id, 0 AS kind, posture::bigint AS key, '' AS source, 1 AS n FROM listed_computer
        UNION ALL SELECT workspace_id, 1, coalesce(floor(extract(epoch FROM last_checked_at) / 7200), -9223372036854775808)::bigint, '', 1
          FROM listed_computer
        UNION ALL SELECT workspace_id, 2, 0, source, 1 FROM listed_computer
        UNION ALL SELECT workspace_id, kind, key, source, -n FROM computer_count) AS counts
       GROUP BY 1, 2, 3, 4 HAVING sum(n) <> 0`);
    return [listed.rows, counted.rows];
  };

  const record = (index: number) => ({
    ...{ ...LAPTOP, owner: undefined, externalId: `c-${index}`, serialNumber: `S${index}` },
    managed: oneOf(CHECK),
    visibility: oneOf(['ACTIVE', 'ACTIVE', 'HIDDEN']),
    lastCheckedAt: oneOf([undefined, '2026-10-01T00:00:00Z', '2026-10-31T12:00:00Z']),
    compliance: oneOf([
      undefined,
      { agentVersion: '2.4.0', antivirusInstalled: oneOf(CHECK), screenLockEnabled: oneOf(CHECK) },
      { diskEncryptionEnabled: oneOf(CHECK), passwordManagerInstalled: oneOf(CHECK) },
    ]),
  });
  const importSome = (from = 0, source = oneOf(['mdm', 'edr'])): Promise<unknown> =>
    setting.run(setting.ndjson(...Array.from({ length: COMPUTERS }, (_, index) => record(from + index))), {
      source,
      missing: oneOf(['keep', 'hide']),
    });

  it('stay exact under imports that create, change, check in, hide and show', async () => {
    for (let round = 0; round < 8; round += 1) {
      await importSome(oneOf([0, 20]));
      expect(await wrong()).toEqual([[], []]);
    }
  });

  it('stay exact under concurrent imports and changes of visibility, and nobody deadlocks', async () => {
    await importSome();
    const write = async (): Promise<void> => {
      const client = new Client({ connectionString: setting.database.migrationDatabaseUrl });
      clients.push(client);
      await client.connect();
      await client.query(`SELECT set_config('app.workspace_id', $1, false)`, [setting.here]);
      for (let update = 0; update < 30; update += 1) {
        await client.query('BEGIN');
        await client.query(`SELECT FROM asset WHERE workspace_id = $1 AND sub_key = 12 ORDER BY id FOR NO KEY UPDATE`, [
          setting.here,
        ]);
        await client.query(
          `UPDATE asset SET visibility = $2, last_checked_at = now() WHERE workspace_id = $1 AND sub_key = 12 AND id % 3 = $3`,
          [setting.here, oneOf([0, 0, 1]), oneOf([0, 1, 2])],
        );
        await client.query(
          'UPDATE computer SET antivirus_installed = $2 WHERE workspace_id = $1 AND asset_id % 2 = 0',
          [setting.here, oneOf(CHECK)],
        );
        await client.query(oneOf(['COMMIT', 'COMMIT', 'ROLLBACK']));
      }
    };
    await Promise.all([write(), write(), importSome(0, 'mdm'), importSome(20, 'edr')]);

    expect(await wrong()).toEqual([[], []]);
  });

  it('are folded, so that reading stays cheap', async () => {
    await importSome();
    await setting.changeOften(1_500, `UPDATE asset SET visibility = round % 2 WHERE external_id = 'c-1'`);

    expect((await setting.rowsOf('computer_count')).length).toBeLessThan(2_500);
    expect(await wrong()).toEqual([[], []]);
  });

  describe('after rows were changed by hand', () => {
    let listed: ListedComputers;
    beforeAll(() => (listed = new ListedComputers(new Database(setting.dataSource))));
    const reconcile = () => listed.reconcile(setting.here);
    const tamper = async (): Promise<void> => {
      const here = `workspace_id = '${setting.here}'`;
      await setting.change(`
        DELETE FROM listed_computer WHERE ${here} AND id % 5 = 0;
        UPDATE listed_computer SET posture = 161 - posture WHERE ${here} AND id % 5 = 1;
        UPDATE listed_computer SET last_checked_at = '2020-01-01', source = 'x' WHERE ${here} AND id % 5 = 2;
        INSERT INTO listed_computer SELECT workspace_id, id, 0, NULL, 'x', NULL FROM asset
         WHERE ${here} AND sub_key = 12 AND facet IS NULL;
        UPDATE computer_count SET n = n + 3 WHERE ${here} AND random() < 0.3;
        INSERT INTO computer_count (workspace_id, kind, key, source, n) VALUES ('${setting.here}', 2, 0, 'y', 9)`);
    };

    it('are repaired with the list, in one workspace alone', async () => {
      await importSome(0, 'mdm');
      expect(await reconcile()).toEqual({ wrongComputers: 0, wrongCounts: [] });
      await tamper();

      const found = await reconcile();

      expect(found.wrongComputers).toBeGreaterThan(10);
      expect(found.wrongCounts).toContainEqual({ filter: 'source', value: 'y', counted: 9, actual: 0 });
      expect(await wrong()).toEqual([[], []]);
      const first = setting.here;
      await tamper();
      await setting.enterWorkspace();
      expect(await reconcile()).toEqual({ wrongComputers: 0, wrongCounts: [] });
      setting.here = first;
      expect((await reconcile()).wrongComputers).toBeGreaterThan(10);
    });

    it('are repaired once by concurrent repairs', async () => {
      await importSome(0, 'mdm');
      for (let round = 0; round < 5; round += 1) {
        await setting.change(`UPDATE computer_count SET n = n + 3 WHERE workspace_id = '${setting.here}'`);
        await Promise.all([reconcile(), reconcile(), reconcile(), reconcile()]);
        expect(await wrong()).toEqual([[], []]);
      }
    });

    it('are repaired while computers change', async () => {
      await importSome(0, 'mdm');
      await importSome(20, 'edr');
      for (let round = 0; round < 6; round += 1) {
        await tamper();
        await Promise.all([importSome(0, 'mdm'), importSome(20, 'edr'), reconcile(), reconcile()]);
        expect(await wrong()).toEqual([[], []]);
      }
    });
  });

  it('and the list are made for computers that were there before, and made once', async () => {
    await importSome();
    await setting.change(`DELETE FROM listed_computer WHERE id % 2 = 0 AND workspace_id = '${setting.here}'`);
    const runner = setting.dataSource.createQueryRunner();
    for (let run = 0; run < 2; run += 1) {
      await new ListExistingComputers1780000000061().up(runner);
      expect(await wrong()).toEqual([[], []]);
    }
    await runner.release();
  });
});
