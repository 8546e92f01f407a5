import { Client } from 'pg';
import { postureOf } from '../../libs/inventory/src/assets/typeorm/computer.row';
import { ImportSetting, LAPTOP, type Row } from '../support/import-setting';

const COMPUTERS = 40;
const oneOf = <Value>(values: readonly Value[]): Value => values[Math.floor(Math.random() * values.length)] as Value;
const CHECK = [true, false, null];

describe('Postures and counts of computers', () => {
  let setting: ImportSetting;
  const clients: Client[] = [];
  beforeAll(async () => {
    setting = await ImportSetting.open();
  });
  afterAll(() => setting.close());
  beforeEach(() => setting.enterWorkspace());
  afterEach(() => Promise.all(clients.splice(0).map((client) => client.end())));

  const wrong = (): Promise<Row[]> => setting.wrongCounters();

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
      expect(await wrong()).toEqual([]);
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
          `WITH changed AS (
             UPDATE computer SET antivirus_installed = $2 WHERE workspace_id = $1 AND asset_id % 2 = 0 RETURNING computer.*)
           UPDATE asset SET posture = ${postureOf('changed')} FROM changed WHERE asset.workspace_id = $1 AND id = asset_id`,
          [setting.here, oneOf(CHECK)],
        );
        await client.query(oneOf(['COMMIT', 'COMMIT', 'ROLLBACK']));
      }
    };
    await Promise.all([write(), write(), importSome(0, 'mdm'), importSome(20, 'edr')]);

    expect(await wrong()).toEqual([]);
  });
});
