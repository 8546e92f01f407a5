import fc from 'fast-check';
import { newestOf } from '#libs/kernel';
import { Client } from 'pg';
import { ImportSetting, RECORDS, type Row } from '../support/import-setting';

const KEYS = ['k1', 'k2', 'k3', 'k4'];
const IDS = ['ds-0', 'ds-1', 'ds-2', 'ds-3', 'ds-4', 'ds-5'];

describe('Tag counts', () => {
  let setting: ImportSetting;
  beforeAll(async () => {
    setting = await ImportSetting.open();
  });
  afterAll(() => setting.close());
  beforeEach(async () => {
    await setting.enterWorkspace();
    for (const key of KEYS) await setting.tagKeys.create(setting.here, { key, value: null, platform: true });
  });

  const clients: Client[] = [];
  afterEach(() => Promise.all(clients.splice(0).map((client) => client.end())));
  /** One more writer, which gives up rather than wait for a lock. */
  const connect = async (): Promise<Client> => {
    const client = new Client({ connectionString: setting.database.migrationDatabaseUrl });
    clients.push(client);
    await client.connect();
    await client.query(`SELECT set_config('app.workspace_id', $1, false), set_config('lock_timeout', '2s', false)`, [
      setting.here,
    ]);
    return client;
  };
  const record = (externalId: string, keys: readonly string[], visibility = 'ACTIVE') => ({
    ...RECORDS,
    externalId,
    visibility,
    tags: keys.map((key) => ({ key })),
  });
  /** Counts that differ from a full count, and tags that differ from their asset, in any workspace. */
  const wrong = (): Promise<Row[]> => setting.wrongCounters();
  const countOf = async (key: string): Promise<number | undefined> => {
    const { items } = await setting.tagKeys.page(newestOf(setting.here), undefined, { size: 100, after: null });
    return items.find((one) => one.key === key)?.assetCount;
  };

  it('stay exact under imports, hidden and deleted assets, deleted keys and purges', async () => {
    const some = <Value>(values: readonly Value[]) => fc.subarray([...values]);
    const step = fc.oneof(
      fc.record({
        do: fc.constant('import' as const),
        assets: fc.array(
          fc.tuple(fc.constantFrom(...IDS), some(KEYS), fc.constantFrom('ACTIVE', 'HIDDEN', 'DELETED')),
          { minLength: 1, maxLength: 6 },
        ),
        missing: fc.constantFrom('keep' as const, 'hide' as const),
      }),
      fc.record({ do: fc.constant('show' as const), ids: some(IDS), visibility: fc.nat(2) }),
      fc.record({ do: fc.constant('untag' as const), ids: some(IDS) }),
      fc.record({ do: fc.constant('delete key' as const), key: fc.constantFrom(...KEYS) }),
      fc.record({ do: fc.constant('purge' as const), ids: some(IDS) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        for (const one of steps) {
          const ids = 'ids' in one ? one.ids.map((id) => `'${id}'`).join(', ') || `''` : '';
          const chosen = `workspace_id = '${setting.here}' AND external_id IN (${ids})`;
          const tagsOfChosen = `DELETE FROM asset_tag WHERE asset_id IN (SELECT id FROM asset WHERE ${chosen})`;
          if (one.do === 'import') {
            const assets = new Map(one.assets.map(([id, keys, visibility]) => [id, record(id, keys, visibility)]));
            await setting.run(setting.ndjson(...assets.values()), { missing: one.missing });
          } else if (one.do === 'show')
            await setting.change(`UPDATE asset SET visibility = ${one.visibility} WHERE ${chosen}`);
          else if (one.do === 'untag') await setting.change(tagsOfChosen);
          else if (one.do === 'delete key') {
            await setting.tagKeys.delete(setting.here, one.key);
            await setting.tagKeys.create(setting.here, { key: one.key, value: null, platform: true });
          } else await setting.change(`${tagsOfChosen}; DELETE FROM asset WHERE ${chosen}`);
          expect(await wrong()).toEqual([]);
        }
      }),
      { numRuns: 12 },
    );
  });

  it('deadlock no writers, in whatever order the keys come', async () => {
    await setting.importAll(record('ds-0', ['k1', 'k2']), record('ds-1', ['k1', 'k2']));
    const untag = (client: Client, externalId: string, key: string) =>
      client.query(
        `DELETE FROM asset_tag USING asset, tag_key
          WHERE asset.id = asset_id AND asset.external_id = $1 AND tag_key.id = tag_key_id AND tag_key.key = $2
            AND asset.workspace_id = $3 AND tag_key.workspace_id = $3`,
        [externalId, key, setting.here],
      );
    const [one, other] = await Promise.all([connect(), connect()]);
    await Promise.all([one.query('BEGIN'), other.query('BEGIN')]);
    // Crosswise: with row locks alone each would wait for the other.
    await untag(one, 'ds-0', 'k1');
    const waiting = untag(other, 'ds-1', 'k2');
    await setting.until(`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`);
    await untag(one, 'ds-0', 'k2');
    await one.query('COMMIT');
    await waiting;
    await untag(other, 'ds-1', 'k1');
    await other.query('COMMIT');

    expect([await countOf('k1'), await countOf('k2')]).toEqual([0, 0]);
    expect(await wrong()).toEqual([]);
  });

  it('leave no row of a deleted key', async () => {
    await setting.importAll(record('ds-0', ['k1']));
    await setting.tagKeys.delete(setting.here, 'k1');
    expect(await setting.rowsOf('tag_count')).toEqual([]);
  });
});
