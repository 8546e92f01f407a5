import type { ApiResponse, ApiClient } from '../support/api-client';
import { type TestApp, startApp } from '../support/start-app';

const ASSETS = '/v1/inventory/assets';
const delay = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('Concurrent updates of one asset', () => {
  let app: TestApp;
  let workspace: string;
  let client: ApiClient;
  beforeAll(async () => {
    app = await startApp();
    workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace);
  });
  afterAll(() => app.stop());

  /** Sends all requests while another transaction locks the row, so that all begin before one ends. */
  const atOnce = async (id: string, send: readonly (() => Promise<ApiResponse>)[]): Promise<ApiResponse[]> => {
    const { admin } = app.database;
    await admin.query('BEGIN');
    await admin.query('SELECT 1 FROM asset WHERE public_id = $1 FOR UPDATE', [id]);
    const responses = send.map((one) => one());
    await delay(300);
    await admin.query('COMMIT');
    return Promise.all(responses);
  };
  const etagOf = async (id: string): Promise<string> =>
    (await client.get(`${ASSETS}/${id}`)).headers.get('etag') as string;

  it('with the same If-Match succeed once, and the others get 412', async () => {
    const { id } = await app.arrange.anAsset(workspace);
    const headers = { 'If-Match': await etagOf(id) };
    const responses = await atOnce(
      id,
      ['a', 'b', 'c', 'd'].map((description) => () => client.patch(`${ASSETS}/${id}`, { description }, headers)),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
  });

  it('each get their own entity tag, and audit events form an unbroken chain', async () => {
    const { id } = await app.arrange.anAsset(workspace);
    const descriptions = ['a', 'b', 'c', 'd', 'e', 'f'];
    const responses = await atOnce(
      id,
      descriptions.map(
        (description, index) => () =>
          index % 2 === 0
            ? client.patch(`${ASSETS}/${id}`, { description })
            : client.patch(ASSETS, { ids: [id], patch: { description } }),
      ),
    );
    expect(responses.map(({ status }) => status)).toEqual(descriptions.map(() => 200));
    const { rows } = await app.database.admin.query<{ old: string | null; new: string }>(
      `SELECT changes->'description'->>'old' AS old, changes->'description'->>'new' AS new
         FROM audit_event WHERE asset_id = $1`,
      [id],
    );
    const next = new Map(rows.map((row) => [row.old, row.new]));
    const chain: string[] = [];
    for (let value = next.get(null); value !== undefined; value = next.get(value)) chain.push(value);
    expect([...chain].sort()).toEqual(descriptions);
    expect((await client.get(`${ASSETS}/${id}`)).body['description']).toBe(chain.at(-1));
    const tags = responses.filter((_, index) => index % 2 === 0).map(({ headers }) => headers.get('etag'));
    expect(new Set(tags).size).toBe(3);
  });

  it('with onlyIf of 20 writers leave the first owner of each asset, and 50 successes in all', async () => {
    const ids = await app.arrange.manyAssets(workspace, 50);
    const owners: string[] = [];
    while (owners.length < 20) owners.push((await app.arrange.anEmployee(workspace)).id);
    const responses = await atOnce(
      ids[25] as string,
      owners.map((ownerId, index) => () => {
        const [sent, patch] = [index % 2 === 0 ? ids : [...ids].reverse(), { ownerId }];
        const form = index % 3 === 0 ? { ids: sent, patch } : { updates: sent.map((id) => ({ id, patch })) };
        return client.patch(ASSETS, { ...form, onlyIf: { hasOwner: false } });
      }),
    );
    const count = (member: string): number => responses.reduce((sum, { body }) => sum + Number(body[member]), 0);
    expect([count('successfulUpdates'), count('failedUpdates')]).toEqual([50, 19 * 50]);
    const { rows } = await app.database.admin.query<{ events: string; fits: boolean }>(
      `SELECT count(*) AS events, bool_and(changes->'ownerId'->>'new' = owner_id::text) AS fits
         FROM audit_event JOIN asset ON asset.public_id = asset_id WHERE asset_id = ANY ($1) GROUP BY asset_id`,
      [ids],
    );
    expect(rows).toEqual(ids.map(() => ({ events: '1', fits: true })));
  });

  it('never deadlock with imports, because both lock assets in the same order', async () => {
    const aFirst = await app.arrange.anAsset(workspace, {
      columns: { public_id: 'ffffffff-0000-4000-8000-000000000001' },
    });
    const second = await app.arrange.anAsset(workspace, {
      columns: { public_id: '00000000-0000-4000-8000-000000000002' },
    });
    const { admin } = app.database;
    await admin.query('BEGIN');
    await admin.query('SELECT 1 FROM asset WHERE id = $1 FOR UPDATE', [aFirst.internalId]);
    const ids = [second.id, aFirst.id];
    const response = client.patch(ASSETS, { ids, patch: { description: 'x' } });
    await delay(300);
    // The row is free, because the bulk update waits for the first row before it takes the second.
    await admin.query('SELECT 1 FROM asset WHERE id = $1 FOR UPDATE NOWAIT', [second.internalId]);
    await admin.query('COMMIT');
    expect((await response).body).toMatchObject({ successfulUpdates: 2 });
  });

  it('set an owner without waiting for an import that holds the employee', async () => {
    const [employee, asset] = [await app.arrange.anEmployee(workspace), await app.arrange.anAsset(workspace)];
    const { admin } = app.database;
    await admin.query('BEGIN');
    await admin.query('UPDATE asset SET visibility = 1 WHERE public_id = $1', [employee.id]);
    const response = await client.patch(`${ASSETS}/${asset.id}`, { ownerId: employee.id });
    await admin.query('COMMIT');
    expect([response.status, response.body['ownerId']]).toEqual([200, employee.id]);
    const late = await client.patch(`${ASSETS}/${asset.id}`, { ownerId: employee.id });
    expect(late.status).toBe(400);
  });
});
