import { randomUUID } from 'node:crypto';
import { type TestApp, startApp } from '../support/start-app';
import type { ApiClient, ApiResponse } from '../support/api-client';

interface ChangeBody {
  readonly type: string;
  readonly id: string;
  readonly changedAt: string;
  readonly origin: Record<string, string>;
  readonly asset: { readonly id: string; readonly name: string; readonly updatedAt: string } | null;
}
interface FeedBody {
  readonly results: ChangeBody[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly resumeCursor: string;
}

describe('GET /v1/inventory/changes', () => {
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

  const get = (query = ''): Promise<ApiResponse> => client.get(`/v1/inventory/changes${query}`);
  const page = async (query = ''): Promise<FeedBody> => {
    const response = await get(query);
    expect(response.status).toBe(200);
    return response.body as unknown as FeedBody;
  };
  /** Every page from a query on, and the cursor behind them. */
  const follow = async (
    query = '?',
    pageSize = 3,
  ): Promise<{ changes: ChangeBody[]; cursor: string; pages: number }> => {
    const changes: ChangeBody[] = [];
    let body = await page(query);
    for (let pages = 1; ; pages += 1) {
      changes.push(...body.results);
      if (!body.pageInfo.hasNextPage) return { changes, cursor: body.resumeCursor, pages };
      expect(body.pageInfo.endCursor).toBe(body.resumeCursor);
      body = await page(`?pageSize=${pageSize}&pageCursor=${body.resumeCursor}`);
    }
  };
  const patch = async (id: string, body: object): Promise<ApiResponse> => {
    const response = await client.patch(`/v1/inventory/assets/${id}`, body, { 'Idempotency-Key': randomUUID() });
    expect(response.status).toBe(200);
    return response;
  };
  const hide = (internalId: string): Promise<void> =>
    app.arrange.change(workspace, 'UPDATE asset SET visibility = 1 WHERE workspace_id = $1 AND id = $2', [
      workspace,
      internalId,
    ]);

  it('returns every visible asset once, then the changes', async () => {
    await app.arrange.manyAssets(workspace, 10);
    const hidden = await app.arrange.anAsset(workspace, { visibility: 'HIDDEN' });

    const first = await follow('?pageSize=3');

    expect(first.pages).toBe(4);
    expect(new Set(first.changes.map(({ id }) => id)).size).toBe(10);
    expect(first.changes.every(({ type, asset, id }) => type === 'UPSERTED' && asset?.id === id)).toBe(true);
    expect(first.changes.map(({ id }) => id)).not.toContain(hidden.id);
    expect((await follow(`?pageCursor=${first.cursor}`)).changes).toEqual([]);

    const [one, other] = first.changes as [ChangeBody, ChangeBody];
    await patch(other.id, { description: 'first' });
    const updated = await patch(one.id, { description: 'second' });
    const next = await follow(`?pageCursor=${first.cursor}`);
    expect(next.changes.map(({ id }) => id)).toEqual([other.id, one.id]);
    expect(next.changes[1]).toMatchObject({ type: 'UPSERTED', asset: updated.body });
    expect(next.changes[1]?.asset?.updatedAt).toBe((updated.body as { updatedAt: string }).updatedAt);
  });

  it('returns only the latest state of an asset that changed twice', async () => {
    const asset = await app.arrange.anAsset(workspace);
    const { resumeCursor } = await page('?since=now');
    await patch(asset.id, { description: 'one' });
    await patch(asset.id, { description: 'two' });

    const { changes } = await follow(`?pageCursor=${resumeCursor}`);

    expect(changes).toHaveLength(1);
    expect(changes[0]?.asset).toMatchObject({ description: 'two' });
  });

  it('returns the origin of each change', async () => {
    const asset = await app.arrange.anAsset(workspace);
    const updated = await patch(asset.id, { description: 'mine' });

    const { changes } = await follow();

    const requestId = updated.headers.get('x-request-id');
    expect(changes[0]?.origin).toMatchObject({ type: 'API', requestId });
    expect(changes[0]?.origin['clientId']).toMatch(/^ci_/);
  });

  it('returns removals since the first page was requested, and none from before', async () => {
    const [one, other] = [await app.arrange.anAsset(workspace), await app.arrange.anAsset(workspace)];
    await hide(one.internalId);
    const first = await follow();
    expect(first.changes.map(({ id }) => id)).toEqual([other.id]);

    await hide(other.internalId);

    const { changes } = await follow(`?pageCursor=${first.cursor}`);
    expect(changes).toEqual([expect.objectContaining({ type: 'REMOVED', id: other.id, asset: null })]);
    await app.arrange.change(workspace, 'UPDATE asset SET visibility = 0 WHERE workspace_id = $1', [workspace]);
    const again = await follow(`?pageCursor=${first.cursor}`);
    expect(again.changes.map(({ type }) => type)).toEqual(['UPSERTED', 'UPSERTED']);
  });

  it.each([100, 1_000])('returns each asset of an import of 2,500 in pages of %d', async (pageSize) => {
    await app.arrange.manyAssets(workspace, 2_500);

    const { changes } = await follow(`?pageSize=${pageSize}`, pageSize);

    expect(new Set(changes.map(({ id }) => id)).size).toBe(2_500);
  });

  it('returns the visible assets of an import that also brought many removed ones', async () => {
    await app.arrange.change(
      workspace,
      `INSERT INTO asset (workspace_id, source, external_id, sub_key, visibility, classification, name)
       SELECT $1::uuid, 'test', number, 13, CASE WHEN number <= 980 THEN 1 ELSE 0 END, 0, 'badge ' || number
         FROM generate_series(1, 1500) AS number`,
      [workspace],
    );

    expect((await follow('?pageSize=100', 100)).changes).toHaveLength(520);
  });

  it('needs no page for assets that were removed before', async () => {
    await app.arrange.manyAssets(workspace, 2_500);
    await app.arrange.change(workspace, 'UPDATE asset SET visibility = 1 WHERE workspace_id = $1', [workspace]);
    const last = await app.arrange.anAsset(workspace);

    const { changes, pages } = await follow('?pageSize=10');

    expect(changes.map(({ id }) => id)).toEqual([last.id]);
    expect(pages).toBe(1);
  });

  it('returns one changedAt for all changes of a transaction, never below an earlier one', async () => {
    await app.arrange.manyAssets(workspace, 3);
    const { changes } = await follow();
    expect(new Set(changes.map(({ changedAt }) => changedAt)).size).toBe(1);

    await app.arrange.change(
      workspace,
      `UPDATE change_head SET changed_at = now() + interval '1 hour' WHERE workspace_id = $1`,
      [workspace],
    );
    await patch(changes[0]?.id as string, { description: 'later' });
    const later = await follow(`?since=${changes[0]?.changedAt}`);
    expect(Date.parse(later.changes.at(-1)?.changedAt ?? '')).toBeGreaterThan(Date.now() + 3_000_000);
  });

  it('returns changes at or after a date-time, including removals', async () => {
    const [one, other] = [await app.arrange.anAsset(workspace), await app.arrange.anAsset(workspace)];
    await patch(one.id, { description: 'one' });
    const { changes } = await follow();
    const since = changes.at(-1)?.changedAt as string;
    await hide(other.internalId);

    const { changes: latest } = await follow(`?since=${since}`);

    expect(latest.map(({ id, type }) => [id, type])).toEqual([
      [one.id, 'UPSERTED'],
      [other.id, 'REMOVED'],
    ]);
    const future = await page('?since=2999-01-01T00:00:00Z');
    expect(future.results).toEqual([]);
    expect((await follow(`?pageCursor=${future.resumeCursor}`)).changes).toEqual([]);
  });

  it('returns nothing from before a since in the future', async () => {
    const { id } = await app.arrange.anAsset(workspace);
    const { resumeCursor } = await page(`?since=${new Date(Date.now() + 1_800_000).toISOString()}`);

    await patch(id, { description: 'before' });
    const waiting = await page(`?pageCursor=${resumeCursor}`);
    await app.arrange.change(
      workspace,
      `UPDATE change_head SET changed_at = now() + interval '1 hour' WHERE workspace_id = $1`,
      [workspace],
    );
    await patch(id, { description: 'after' });
    const { changes, cursor } = await follow(`?pageCursor=${waiting.resumeCursor}`);

    expect(waiting).toMatchObject({ results: [], pageInfo: { hasNextPage: false } });
    expect(changes).toMatchObject([{ id, asset: { description: 'after' } }]);
    expect((await follow(`?pageCursor=${cursor}`)).changes).toEqual([]);
    await patch(id, { description: 'later' });
    expect((await follow(`?pageCursor=${cursor}`)).changes).toHaveLength(1);
  });

  it('keeps the category of the first request in the cursor', async () => {
    const bucket = await app.arrange.anAsset(workspace, { type: 'CLOUD_STORAGE_BUCKET' });
    const person = await app.arrange.anEmployee(workspace);

    const cloud = await follow('?categoryKey=CLOUD');

    expect(cloud.changes.map(({ id }) => id)).toEqual([bucket.id]);
    expect((await follow('?categoryKey=EMPLOYEE')).changes.map(({ id }) => id)).toEqual([person.id]);
    await patch(bucket.id, { description: 'd' });
    expect((await follow(`?pageCursor=${cloud.cursor}`)).changes.map(({ id }) => id)).toEqual([bucket.id]);
    expect((await get(`?categoryKey=CUSTOM&pageCursor=${cloud.cursor}`)).status).toBe(400);
  });

  it('hides other workspaces and refuses their cursors', async () => {
    const elsewhere = await app.arrange.aWorkspace();
    await app.arrange.anAsset(elsewhere);
    const theirs = await (await app.arrange.aClient(elsewhere)).get('/v1/inventory/changes');

    expect((await follow()).changes).toEqual([]);
    const cursor = (theirs.body as unknown as FeedBody).resumeCursor;
    expect(await get(`?pageCursor=${cursor}`)).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } });
  });

  it.each([
    ['?pageSize=0', 'pageSize'],
    ['?pageSize=1001', 'pageSize'],
    ['?since=yesterday', 'since'],
    ['?since=2026-02-30T00:00:00Z', 'since'],
    ['?since=2026-02-27T24:00:00Z', 'since'],
    ['?subKey=CLOUD', 'subKey'],
    ['?categoryKey=NO', 'categoryKey'],
  ])('returns 400 for %s and names the parameter', async (query, parameter) => {
    const response = await get(query);

    expect(response).toMatchObject({ status: 400, body: { code: 'validation_failed', errors: [{ parameter }] } });
  });

  it('says that a + in since must be sent as %2B', async () => {
    const { body } = await get('?since=2026-02-27T00:00:00+02:00');

    expect(body).toMatchObject({
      status: 400,
      errors: [{ parameter: 'since', detail: expect.stringContaining('%2B') as string }],
    });
    expect((await get('?since=2026-02-27T00:00:00%2B02:00')).status).toBe(200);
  });

  it('returns 400 for since beside pageCursor', async () => {
    const { resumeCursor } = await page();

    const response = await get(`?since=now&pageCursor=${resumeCursor}`);

    expect(response).toMatchObject({ status: 400, body: { errors: [{ parameter: 'since' }] } });
  });

  it('refuses a cursor of the list, and the list refuses a cursor of the feed', async () => {
    await app.arrange.manyAssets(workspace, 2);
    const list = await client.get('/v1/inventory/assets?pageSize=1');
    const { endCursor } = (list.body as unknown as FeedBody).pageInfo;
    const { resumeCursor } = await page();

    expect((await get(`?pageCursor=${endCursor}`)).status).toBe(400);
    expect((await client.get(`/v1/inventory/assets?pageCursor=${resumeCursor}`)).status).toBe(400);
  });

  it('links the next page with the filter', async () => {
    await app.arrange.manyAssets(workspace, 3);

    const response = await get('?pageSize=2&categoryKey=CUSTOM');

    const { pageInfo } = response.body as unknown as FeedBody;
    const address = `https://api.example.test/v1/inventory/changes?pageSize=2&categoryKey=CUSTOM&pageCursor=${pageInfo.endCursor}`;
    expect(response.headers.get('link')).toBe(`<${address}>; rel="next"`);
  });

  it('requires inventory:read', async () => {
    const poor = await app.arrange.aClient(workspace, ['computers:read']);

    expect(await poor.get('/v1/inventory/changes')).toMatchObject({ status: 403 });
  });

  describe('after the database was restored or replaced', () => {
    const expired = (code: string) => ({
      status: 410,
      body: { code: 'cursor_expired', errors: [{ parameter: 'pageCursor', code }] },
    });

    /** As in a backup of before the second change. */
    const loseChanges = async (): Promise<void> => {
      for (const change of [
        `UPDATE asset SET change_id = (SELECT id FROM change_set WHERE workspace_id = $1 AND sequence = 1)
          WHERE workspace_id = $1`,
        'DELETE FROM change_set WHERE workspace_id = $1 AND sequence > 1',
        `UPDATE change_head SET sequence = 1, mark = (SELECT mark FROM change_set WHERE workspace_id = $1)
          WHERE workspace_id = $1`,
      ]) {
        await app.arrange.change(workspace, change, [workspace]);
      }
    };

    it('returns 410 diverged when the change of the cursor was lost, even if another one took its place', async () => {
      const asset = await app.arrange.anAsset(workspace);
      const before = await page();
      await patch(asset.id, { description: 'lost' });
      const after = await page();
      await loseChanges();

      expect(await get(`?pageCursor=${after.resumeCursor}`)).toMatchObject(expired('diverged'));
      await patch(asset.id, { description: 'another' });
      expect(await get(`?pageCursor=${after.resumeCursor}`)).toMatchObject(expired('diverged'));
      expect((await follow(`?pageCursor=${before.resumeCursor}`)).changes).toHaveLength(1);
    });

    it('returns 410 diverged to a reader who passed lost assets during the first load', async () => {
      await app.arrange.manyAssets(workspace, 3);
      const [first] = (await page('?pageSize=1')).results;
      await patch(first?.id as string, { description: 'lost' });
      const during = await page('?pageSize=1');
      expect(during.results[0]?.id).not.toBe(first?.id);

      await loseChanges();

      expect(await get(`?pageCursor=${during.resumeCursor}`)).toMatchObject(expired('diverged'));
    });
  });
});
