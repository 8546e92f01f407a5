import { randomUUID } from 'node:crypto';
import type { ApiClient } from '../support/api-client';
import { StreamReader } from '../support/stream-reader';
import { type TestApp, startApp } from '../support/start-app';

const ASSETS = '/v1/inventory/assets';
const COMPUTERS = '/v1/computers';

describe('expand=owner', () => {
  let app: TestApp;
  let workspace: string;
  let client: ApiClient;
  let token: string;
  let ada: string;
  /** Owned by Ada, by an employee who left, and by nobody. */
  let owned: string[];
  let owners: unknown[];

  beforeAll(async () => {
    app = await startApp();
    workspace = await app.arrange.aWorkspace();
    token = await app.arrange.aToken(workspace);
    client = app.client(token);
    ada = (await app.arrange.anEmployee(workspace)).id;
    const leaver = await app.arrange.anEmployee(workspace, 'Leaver');
    owned = [];
    for (const ownerId of [ada, leaver.id, null]) {
      owned.push((await app.arrange.anAsset(workspace, { type: 'COMPUTER', ownerId })).id);
    }
    await app.arrange.change(workspace, 'UPDATE asset SET visibility = 1 WHERE workspace_id = $1 AND public_id = $2', [
      workspace,
      leaver.id,
    ]);
    owners = [{ id: ada, name: 'Ada Okafor', email: 'ada@example.com' }, null, null];
  });
  afterAll(() => app.stop());

  const shown = (items: readonly Record<string, unknown>[]): unknown[] => items.map(({ owner }) => owner);

  it.each([`${ASSETS}?categoryKey=COMPUTER`, `${ASSETS}?categoryKey=COMPUTER&hasOwner=true`, `${COMPUTERS}?`])(
    'adds the visible owner to each item of %s, on each page that asks for it',
    async (path) => {
      const expected = path.includes('hasOwner') ? owners.slice(0, 2) : owners;
      const { body, headers } = await client.get(`${path}&expand=owner&pageSize=1`);
      const { results, pageInfo } = body as { results: Record<string, unknown>[]; pageInfo: { endCursor: string } };
      expect(shown(results)).toEqual(expected.slice(0, 1));
      expect(headers.get('Link')).toContain('expand=owner');

      const next = `${path}&pageCursor=${pageInfo.endCursor}`;
      const [expanded, plain] = [await client.get(`${next}&expand=owner`), await client.get(next)];
      expect(shown(expanded.body['results'] as Record<string, unknown>[])).toEqual(expected.slice(1));
      expect(plain.text).not.toContain('"owner":');
    },
  );

  it.each([
    [ASSETS, 'asset'],
    [COMPUTERS, 'computer'],
  ])('adds it by id and in streams of %s', async (path, item) => {
    const one = await client.get(`${path}/${owned[0]}?expand=owner`);
    const plain = await client.get(`${path}/${owned[0]}`);
    expect(one.body).toEqual({ ...plain.body, owner: owners[0] });
    expect(one.headers.get('ETag')).toBeNull();

    const ids = owned.join(',');
    const stream = await StreamReader.open(app.origin, `${path}?ids=${ids}&expand=owner`, token);
    const lines = (await stream.read()).lines.filter(({ type }) => type === item);
    expect(shown(lines.map((line) => line[item] as Record<string, unknown>))).toEqual(owners);
  });

  it('needs inventory:read for computers, before other parameters are read', async () => {
    const reader = await app.arrange.aClient(workspace, ['computers:read']);
    for (const path of [
      `${COMPUTERS}?expand=owner&pageSize=0`,
      `${COMPUTERS}?expand=owner&x=%`,
      `${COMPUTERS}?x=%FF&%65xpand=owner`,
      `${COMPUTERS}/${owned[0]}?expand=owner`,
    ]) {
      const { status, body, headers } = await reader.get(path);
      expect([status, body['code']]).toEqual([403, 'insufficient_scope']);
      expect(body['detail']).toContain('inventory:read');
      expect(headers.get('WWW-Authenticate')).toContain('scope="inventory:read"');
    }
    expect((await reader.get(`${COMPUTERS}/${owned[0]}`)).status).toBe(200);
  });

  it.each([
    `${ASSETS}?expand=owners`,
    `${ASSETS}?expand=`,
    `${ASSETS}?expand=owner&expand=owner`,
    '/v1/inventory/changes?expand=owner',
    '/v1/inventory/categories?expand=owner',
  ])('is refused by name in %s', async (path) => {
    const { status, body } = await client.get(path);
    expect([status, body['errors']]).toEqual([400, [expect.objectContaining({ parameter: 'expand' })]]);
  });

  it('shows no owner of another workspace', async () => {
    const elsewhere = await app.arrange.aWorkspace();
    const foreign = await app.arrange.anAsset(elsewhere);
    const stranger = await app.arrange.aClient(elsewhere);
    expect((await stranger.page(ASSETS, { expand: 'owner' })).results).toEqual([
      expect.objectContaining({ id: foreign.id, owner: null }),
    ]);
  });
});

describe('ids', () => {
  let app: TestApp;
  let client: ApiClient;
  let ids: string[];

  beforeAll(async () => {
    app = await startApp();
    const workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace);
    ids = [];
    for (let made = 0; made < 60; made += 1) ids.push((await app.arrange.anAsset(workspace, { type: 'COMPUTER' })).id);
  });
  afterAll(() => app.stop());

  it.each([ASSETS, COMPUTERS])('finds these of %s, whatever their order and case', async (path) => {
    const wanted = [ids[7], ids[2]?.toUpperCase(), randomUUID()].join(',');
    const { results, pageInfo } = await client.page(path, { ids: wanted });
    expect(results.map(({ id }) => id)).toEqual([ids[2], ids[7]]);
    expect(pageInfo.totalCount).toBe(2);
  });

  it('is sent again with the cursor when it is long, as the same set', async () => {
    const first = await client.page(ASSETS, { ids: ids.join(','), pageSize: '50' });
    const pageCursor = first.pageInfo.endCursor as string;
    const again = await client.page(ASSETS, { ids: [...ids].reverse().join(',').toUpperCase(), pageCursor });
    expect([first, again].flatMap(({ results }) => results.map(({ id }) => id))).toEqual(ids);

    for (const sent of ['', `&ids=${ids.slice(1).join(',')}`]) {
      const { status, body } = await client.get(`${ASSETS}?pageCursor=${pageCursor}${sent}`);
      expect([status, body['code']]).toEqual([400, 'invalid_cursor']);
    }
  });

  it.each([
    [27, 200],
    [28, 400],
  ])('lets a cursor of %d ids alone be answered by %d: it holds 1,000 characters', async (count, status) => {
    const { pageInfo } = await client.page(ASSETS, { ids: ids.slice(0, count).join(','), pageSize: '20' });
    const alone = await client.get<{ results?: unknown[] }>(`${ASSETS}?pageCursor=${pageInfo.endCursor}`);
    expect([alone.status, alone.body.results?.length]).toEqual([status, status === 200 ? count - 20 : undefined]);
  });

  it('takes up to 100 ids and follows the Link header', async () => {
    const wanted = [...ids, ...Array.from({ length: 40 }, () => randomUUID())];
    const { headers } = await client.get(`${ASSETS}?ids=${wanted.join(',')}&pageSize=50`);
    const link = /<([^>]+)>/.exec(headers.get('Link') ?? '')?.[1] as string;
    const { body } = await client.get(link.slice(link.indexOf(ASSETS)));
    expect(body['results']).toHaveLength(10);
  });

  it.each([
    ['twice', (id: string) => `${id},${id.toUpperCase()}`],
    ['101', () => Array.from({ length: 101 }, () => randomUUID()).join(',')],
    ['no UUID', (id: string) => `${id},abc`],
    ['an empty one', (id: string) => `${id},`],
  ])('refuses %s', async (_, value) => {
    const { status, body } = await client.get(`${ASSETS}?ids=${value(ids[0] as string)}`);
    expect([status, body['errors']]).toEqual([400, [expect.objectContaining({ parameter: 'ids', code: 'format' })]]);
  });
});
