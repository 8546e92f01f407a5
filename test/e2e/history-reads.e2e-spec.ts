import { setTimeout as delay } from 'node:timers/promises';
import { type TestApp, startApp } from '../support/start-app';
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
