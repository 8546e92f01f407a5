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
    await app.arrange.manyAssets(workspace, ROWS);
    const tags = `(SELECT jsonb_agg(jsonb_build_object('key', n || repeat(md5(n::text), 8), 'value', '', 'readOnly', true))
                     FROM generate_series(1, 50) AS n)`;
    await app.arrange.change(workspace, `UPDATE asset SET sub_key = 12, tags = ${tags} WHERE workspace_id = $1`, [
      workspace,
    ]);
    token = await app.arrange.aToken(workspace);
    const { rows } = await app.database.admin.query<{ id: string }>(
      'SELECT public_id AS id FROM asset WHERE workspace_id = $1 ORDER BY asset.id',
      [workspace],
    );
    ids = rows.map(({ id }) => id);
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
