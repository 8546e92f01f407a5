import type { ApiClient, PageBody } from '../support/api-client';
import { type TestApp, startApp } from '../support/start-app';

const ASSETS = '/v1/inventory/assets';
const BASE_URL = 'https://api.example.test/compliance';

describe('The Link header of a page', () => {
  let app: TestApp;
  let client: ApiClient;

  beforeAll(async () => {
    app = await startApp({ BASE_URL });
    const workspace = await app.arrange.aWorkspace();
    for (let index = 0; index < 5; index += 1) {
      await app.arrange.anAsset(workspace, { classification: 'PUBLIC' });
      await app.arrange.anAsset(workspace, { type: 'COMPUTER' });
    }
    client = await app.arrange.aClient(workspace);
  });
  afterAll(() => app.stop());

  /** Returns the next page's URL, or null without the header. */
  async function next(path: string, method = 'GET'): Promise<{ url: URL | null; body: PageBody }> {
    const { status, headers, body } = await client.send<PageBody>(method, path);
    expect(status).toBe(200);
    const link = headers.get('Link');
    const [, url] = link === null ? [] : (/^<([^<>"]+)>; rel="next"$/.exec(link) ?? [null, 'not an address']);
    return { url: url === undefined ? null : new URL(url), body };
  }

  it("leads through the whole list with the request's filters and page size", async () => {
    const query = 'classification=PUBLIC&pageSize=2';
    const found: unknown[] = [];
    let path: string | null = `${ASSETS}?${query}`;

    while (path !== null) {
      const { url, body } = await next(path);
      found.push(...body.results.map(({ id }) => id));
      expect(url === null).toBe(!body.pageInfo.hasNextPage);
      if (url !== null) {
        expect(url.href).toBe(`${BASE_URL}${ASSETS}?${query}&pageCursor=${body.pageInfo.endCursor}`);
      }
      path = url && url.href.slice(BASE_URL.length);
    }

    expect(new Set(found).size).toBe(5);
    expect(found).toHaveLength(5);
  });

  it.each(['/v1/computers', '/v1/inventory/categories', ASSETS])('is absent on the last page of %s', async (path) => {
    const first = await next(`${path}?pageSize=1`);
    const last = await next(`${path}?pageSize=100`);

    expect(first.url?.searchParams.get('pageCursor')).toBe(first.body.pageInfo.endCursor);
    expect(last.url).toBeNull();
  });

  it.each(['/v1/inventory/changes', '/v1/computers/changes'])('leads from a page of %s with since', async (path) => {
    const first = await next(`${path}?since=2026-01-01T00:00:00Z&pageSize=3`);

    const second = await next(first.url?.href.slice(BASE_URL.length) ?? 'no link');

    expect(first.url?.search).toBe(`?pageSize=3&pageCursor=${first.body.pageInfo.endCursor}`);
    const ids = [first, second].flatMap(({ body }) => body.results.map(({ id }) => id));
    expect([ids.length, new Set(ids).size]).toEqual([path.includes('computers') ? 5 : 6, ids.length]);
  });

  it('is absent when filters make it longer than 8 kB, which many proxies refuse', async () => {
    const long = '🖨'.repeat(256);
    const workspace = await app.arrange.aWorkspace();
    await app.arrange.aTagKey(workspace, long);
    for (let count = 0; count < 2; count += 1) {
      await app.arrange.anAsset(workspace, { type: 'COMPUTER', name: long, columns: { serial_number: long } });
    }
    await app.arrange.change(
      workspace,
      `INSERT INTO asset_tag (workspace_id, asset_id, tag_key_id)
       SELECT $1, asset.id, tag_key.id FROM asset, tag_key WHERE asset.workspace_id = $1 AND tag_key.workspace_id = $1`,
      [workspace],
    );
    client = await app.arrange.aClient(workspace);
    const [one, three] = ['name', 'name serialNumber tagKey'].map((names) =>
      new URLSearchParams([
        ...names.split(' ').map((name) => [name, long] as [string, string]),
        ['pageSize', '1'],
      ]).toString(),
    );

    const short = await next(`${ASSETS}?${one}`);
    const first = await next(`${ASSETS}?${three}`);

    expect(short.url?.searchParams.get('name')).toBe(long);
    expect([first.url, first.body.pageInfo.hasNextPage]).toEqual([null, true]);
    const second = await next(`${ASSETS}?${three}&pageCursor=${first.body.pageInfo.endCursor}`);
    expect(second.body.results).toHaveLength(1);
  });

  it('is sent for HEAD', async () => {
    const { url } = await next(`${ASSETS}?pageSize=1`, 'HEAD');

    expect(url?.searchParams.get('pageSize')).toBe('1');
  });
});
