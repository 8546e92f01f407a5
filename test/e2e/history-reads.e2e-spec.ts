import { setTimeout as delay } from 'node:timers/promises';
import { type TestApp, startApp, startInstance } from '../support/start-app';
import { StreamReader } from '../support/stream-reader';
import { someoneWaits } from '../support/waiting-sessions';

const ASSETS = '/v1/inventory/assets';
const READS = 60;

describe('Slow reads of the history of one workspace', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());

  const LOCK_STATES = 'LOCK TABLE asset_version IN ACCESS EXCLUSIVE MODE';
  const lockChanges = (workspace: string): string =>
    `SELECT pg_advisory_xact_lock(hashtextextended('change_ticket ${workspace}', 0))`;

  it.each(['as of an instant', 'as of now', 'of states'])('leave connections to others: reads %s', async (kind) => {
    const workspace = await app.arrange.aWorkspace();
    const client = await app.arrange.aClient(workspace);
    const other = await app.arrange.aClient(await app.arrange.aWorkspace());
    const { id } = await app.arrange.anAsset(workspace);
    await delay(5);
    const asOf = new Date().toISOString();
    await delay(5);
    await client.patch(`${ASSETS}/${id}`, { description: 'later' });
    const { admin } = app.database;
    await admin.query('BEGIN');
    await admin.query(kind === 'as of now' ? lockChanges(workspace) : LOCK_STATES);

    const instant = kind === 'as of now' ? new Date().toISOString() : asOf;
    const path = kind === 'of states' ? `${ASSETS}/${id}/history` : `${ASSETS}/${id}?asOf=${instant}`;
    const reads = Array.from({ length: READS }, () => client.get(path));
    await someoneWaits(app.database);
    await delay(200);
    const first = await Promise.race([other.page(ASSETS), ...reads]);
    await admin.query('COMMIT');

    expect(first).toMatchObject({ results: [] });
    expect((await Promise.all(reads)).map(({ status }) => status)).toEqual(reads.map(() => 200));
  });

  it('do not wait for one that waits for a change under way', async () => {
    const workspace = await app.arrange.aWorkspace();
    const client = await app.arrange.aClient(workspace);
    const { id } = await app.arrange.anAsset(workspace);
    await delay(5);
    const before = new Date().toISOString();
    await delay(5);
    await client.patch(`${ASSETS}/${id}`, { description: 'later' });
    await delay(5);
    const { admin } = app.database;
    await admin.query('BEGIN');
    await admin.query(lockChanges(workspace));

    const now = client.get(`${ASSETS}/${id}?asOf=${new Date().toISOString()}`);
    await someoneWaits(app.database);
    const first = await Promise.race([client.get(`${ASSETS}/${id}?asOf=${before}`), now]);
    await admin.query('COMMIT');

    expect(first.body).toMatchObject({ id, description: null });
    expect((await now).body).toMatchObject({ id, description: 'later' });
  });
});

it('streams of the past have each asset once, also where Postgres does not find them in their order', async () => {
  const app = await startApp();
  const workspace = await app.arrange.aWorkspace();
  await app.arrange.manyAssets(workspace, 1_500, 500);
  // Those lie behind the others then.
  const change = "UPDATE asset SET description = 'later' WHERE workspace_id = $1 AND external_id::int <= 600";
  await app.arrange.change(workspace, change, [workspace]);
  const { admin } = app.database;
  const { rows } = await admin.query<{ name: string }>('SELECT current_database() AS name');
  for (const scan of ['indexscan', 'indexonlyscan'])
    await admin.query(`ALTER DATABASE ${rows[0]?.name} SET enable_${scan} = off`);
  const instance = await startInstance(app);
  await delay(5);

  const path = `${ASSETS}?asOf=${new Date().toISOString()}`;
  const { lines } = await (await StreamReader.open(instance.origin, path, await app.arrange.aToken(workspace))).read();

  const names = lines.flatMap(({ asset }) => (asset as Record<string, unknown> | undefined)?.['externalId'] ?? []);
  expect(names).toEqual(Array.from({ length: 1_500 }, (_, n) => String(n + 1)));
  await instance.stop();
  await app.stop();
});
