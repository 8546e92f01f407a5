import type { ApiClient } from '../support/api-client';
import { type TestApp, startApp } from '../support/start-app';

const PATH = '/v1/inventory/tag-keys';
const ASSETS = '/v1/inventory/assets';

describe('GET /v1/inventory/tag-keys', () => {
  let app: TestApp;
  let workspace: string;
  let client: ApiClient;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());
  beforeEach(async () => {
    workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace);
  });

  const keysOf = async (query: Record<string, string> = {}): Promise<unknown[]> =>
    (await client.page(PATH, query)).results.map(({ key }) => key);
  const countOf = async (key: string): Promise<unknown> =>
    (await client.page(PATH, { pageSize: '100' })).results.find((one) => one['key'] === key)?.['assetCount'];

  it('returns key, value, readOnly and the number of visible assets', async () => {
    await app.arrange.aTagKey(workspace, 'env', { value: 'production' });
    await app.arrange.aTagKey(workspace, 'aws:stack', { platform: true });
    const { id } = await app.arrange.anAsset(workspace);
    await client.patch(`${ASSETS}/${id}`, { tags: [{ key: 'env' }] });

    expect(await client.page(PATH)).toEqual({
      results: [
        { key: 'aws:stack', value: null, readOnly: true, assetCount: 0 },
        { key: 'env', value: 'production', readOnly: false, assetCount: 1 },
      ],
      pageInfo: { hasNextPage: false, endCursor: null, totalCount: 2 },
    });
  });

  it('sorts by the code points of the key over all pages', async () => {
    const sorted = ['A', 'B', 'Z', '_', 'a', 'ab', 'b', 'é', '～', '💥'];
    for (const key of [...sorted].reverse()) await app.arrange.aTagKey(workspace, key);

    expect(await keysOf()).toEqual(sorted);
    const walked = await client.walk(PATH, { pageSize: '3' });
    expect(walked.map(({ key }) => key)).toEqual(sorted);
  });

  it('filters by readOnly and counts the matching keys', async () => {
    for (const key of ['aws:a', 'aws:b']) await app.arrange.aTagKey(workspace, key, { platform: true });
    await app.arrange.aTagKey(workspace, 'env');

    expect(await keysOf({ readOnly: 'true' })).toEqual(['aws:a', 'aws:b']);
    expect(await keysOf({ readOnly: 'false' })).toEqual(['env']);
    const { pageInfo } = await client.page(PATH, { readOnly: 'true', pageSize: '1' });
    expect([pageInfo.totalCount, pageInfo.hasNextPage]).toEqual([2, true]);
    const next = await client.page(PATH, { pageCursor: pageInfo.endCursor as string });
    expect(next.results.map(({ key }) => key)).toEqual(['aws:b']);
  });

  it.each([
    ['readOnly=yes', 'validation_failed'],
    ['readOnly=', 'validation_failed'],
    ['key=env', 'validation_failed'],
    ['pageSize=101', 'validation_failed'],
    ['pageCursor=altered', 'invalid_cursor'],
  ])('refuses %s', async (query, code) => {
    const { status, body } = await client.get(`${PATH}?${query}`);
    expect([status, body['code']]).toEqual([400, code]);
  });

  it('pages through long keys that differ only at the end', async () => {
    const long = ['💥', 'x', '\u0001'].flatMap((text) => ['1', '2', '3'].map((end) => text.repeat(999) + end));
    for (const key of long) await app.arrange.aTagKey(workspace, key);

    const walked = await client.walk(PATH, { pageSize: '1' });

    expect(new Set(walked.map(({ key }) => key))).toEqual(new Set(long));
    expect(walked).toHaveLength(long.length);
  });

  it('continues after a key that was deleted meanwhile', async () => {
    for (const key of ['a', 'b', 'c']) await app.arrange.aTagKey(workspace, key);
    const { pageInfo } = await client.page(PATH, { pageSize: '2' });
    await app.arrange.change(workspace, 'DELETE FROM tag_key WHERE workspace_id = $1 AND key = $2', [workspace, 'b']);

    expect(await keysOf({ pageCursor: pageInfo.endCursor as string })).toEqual(['c']);
  });

  it('counts visible assets only, and again once they are visible again', async () => {
    await app.arrange.aTagKey(workspace, 'env');
    const { id, internalId } = await app.arrange.anAsset(workspace);
    await client.patch(`${ASSETS}/${id}`, { tags: [{ key: 'env' }] });
    const setVisibility = (visibility: number) =>
      app.arrange.change(workspace, 'UPDATE asset SET visibility = $2 WHERE id = $1', [internalId, visibility]);

    for (const [visibility, expected] of [
      [1, 0],
      [2, 0],
      [0, 1],
    ] as const) {
      await setVisibility(visibility);
      expect([visibility, await countOf('env')]).toEqual([visibility, expected]);
    }
  });

  it('hides other workspaces and refuses their cursors', async () => {
    for (const key of ['theirs', 'theirs too']) await app.arrange.aTagKey(workspace, key);
    const cursor = (await client.page(PATH, { pageSize: '1' })).pageInfo.endCursor as string;
    const stranger = await app.arrange.aClient(await app.arrange.aWorkspace());

    expect(await stranger.page(PATH)).toMatchObject({ results: [], pageInfo: { totalCount: 0 } });
    expect((await stranger.get(`${PATH}?pageCursor=${cursor}`)).body['code']).toBe('invalid_cursor');
  });

  it.each([
    ['inventory:read', 200],
    ['all:read', 200],
    ['inventory:write', 403],
    ['computers:read', 403],
  ] as const)('with the scope %s returns %i', async (scope, status) => {
    const scoped = await app.arrange.aClient(workspace, [scope]);
    expect((await scoped.get(PATH)).status).toBe(status);
  });
});
