import type { PageBody } from '../support/api-client';
import { type TestApp, startApp } from '../support/start-app';
import { StreamReader, itemsOf } from '../support/stream-reader';

const ROWS = 400;
/** A page ends with the row that reaches two megabytes. */
const MOST_BYTES = 2_200_000;

describe('Assets with many tags', () => {
  let app: TestApp;
  let token: string;
  let ids: string[];

  beforeAll(async () => {
    app = await startApp();
    const workspace = await app.arrange.aWorkspace();
    ids = await app.arrange.manyAssets(workspace, ROWS);
    const tags = `(SELECT jsonb_agg(jsonb_build_object('key', n || repeat(md5(n::text), 8), 'value', '', 'readOnly', true))
                     FROM generate_series(1, 50) AS n)`;
    await app.arrange.change(workspace, `UPDATE asset SET sub_key = 12, tags = ${tags} WHERE workspace_id = $1`, [
      workspace,
    ]);
    token = await app.arrange.aToken(workspace);
  });
  afterAll(() => app.stop());

  it.each(['/v1/inventory/changes', '/v1/computers/changes'])(
    'make pages of %s short, and each asset comes once',
    async (feed) => {
      const seen: unknown[] = [];
      let query = 'pageSize=1000';
      for (let hasMore = true; hasMore;) {
        const { status, text, body } = await app
          .client(token)
          .get<PageBody & { resumeCursor: string }>(`${feed}?${query}`);
        expect([status, text.length < MOST_BYTES]).toEqual([200, true]);
        seen.push(...body.results.map(({ id }) => id));
        hasMore = body.pageInfo.hasNextPage;
        query = `pageSize=1000&pageCursor=${body.resumeCursor}`;
      }

      expect(seen).toEqual(ids);
    },
  );

  it.each([
    ['/v1/inventory/assets', 'asset'],
    ['/v1/computers', 'computer'],
  ])('come once each in a stream of %s', async (path, item) => {
    const { lines } = await (await StreamReader.open(app.origin, path, token)).read();

    expect(itemsOf(lines, item).map(({ id }) => id)).toEqual(ids);
    expect(lines.at(-1)).toEqual({ type: 'end', count: ROWS });
  });
});

describe('Assets with tags of 100 kB', () => {
  const COUNT = 80;
  /** A page of a list ends with the item that reaches six megabytes. */
  const MOST_BYTES_OF_LIST = 6_300_000;
  const TAGS = `(SELECT jsonb_agg(jsonb_build_object('key', n || repeat('🔥', 500), 'value', '', 'readOnly', true))
                   FROM generate_series(1, 50) AS n)`;
  let app: TestApp;
  let token: string;
  let workspace: string;

  beforeAll(async () => {
    app = await startApp();
    workspace = await app.arrange.aWorkspace();
    await app.arrange.manyAssets(workspace, COUNT);
    const sql = `UPDATE asset SET sub_key = 12, tags = ${TAGS} WHERE workspace_id = $1`;
    await app.arrange.change(workspace, sql, [workspace]);
    token = await app.arrange.aToken(workspace);
  });
  afterAll(() => app.stop());

  async function pagesOf(path: string): Promise<PageBody['results'][]> {
    const pages: PageBody['results'][] = [];
    let query = 'pageSize=100';
    for (let hasMore = true; hasMore;) {
      const { status, text, body } = await app.client(token).get<PageBody>(`${path}?${query}`);
      expect([status, Buffer.byteLength(text) < MOST_BYTES_OF_LIST]).toEqual([200, true]);
      pages.push(body.results);
      hasMore = body.pageInfo.hasNextPage;
      query = `pageSize=100&pageCursor=${body.pageInfo.endCursor ?? ''}`;
    }
    return pages;
  }

  it.each(['/v1/inventory/assets', '/v1/computers'])('make pages of %s short, and each comes once', async (list) => {
    const pages = await pagesOf(list);

    expect(pages.length).toBeGreaterThan(1);
    expect(new Set(pages.flat().map(({ id }) => id)).size).toBe(COUNT);
    expect(pages.flat()).toHaveLength(COUNT);
  });

  it('make pages of a history short, each with what changed', async () => {
    const { id, internalId } = await app.arrange.anAsset(workspace);
    for (let state = 1; state < COUNT; state += 1) {
      const change = `UPDATE asset SET tags = ${TAGS}, description = $2 WHERE id = $1`;
      await app.arrange.change(workspace, change, [internalId, String(state)]);
    }

    const pages = await pagesOf(`/v1/inventory/assets/${id}/history`);

    expect(pages.length).toBeGreaterThan(1);
    const changed = pages.flat().map(({ changedFields }) => changedFields as string[]);
    expect(changed).toHaveLength(COUNT);
    expect(changed.filter((fields) => fields.includes('description'))).toHaveLength(COUNT - 1);
  });
});
