import { randomUUID } from 'node:crypto';
import type { ApiClient } from '../support/api-client';
import { type TestApp, startApp } from '../support/start-app';

const BULK = '/v1/inventory/assets';

describe('PATCH /v1/inventory/assets with dryRun', () => {
  let app: TestApp;
  let workspace: string;
  let client: ApiClient;
  let owner: string;
  beforeAll(async () => {
    app = await startApp();
    workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace);
    owner = (await app.arrange.anEmployee(workspace)).id;
  });
  afterAll(() => app.stop());

  /** Everything that an update may write, but for the records of idempotency keys. */
  const everything = async (): Promise<string> => {
    const tables = ['asset', 'asset_tag', 'facet_count', 'audit_event'];
    const texts: string[] = [];
    for (const table of tables) {
      const sql = `SELECT coalesce(json_agg(t ORDER BY t::text), '[]')::text AS text FROM ${table} AS t WHERE workspace_id = $1`;
      const { rows } = await app.database.admin.query<{ text: string }>(sql, [workspace]);
      texts.push(rows[0]?.text ?? '');
    }
    return texts.join('\n');
  };
  const dryRun = (ids: readonly string[], patch: object, headers = {}) =>
    client.patch(BULK, { ids, patch, dryRun: true }, headers);

  it('returns the assets and fields that would change, and writes nothing', async () => {
    const { id: bare } = await app.arrange.anAsset(workspace);
    const { id: described } = await app.arrange.anAsset(workspace, { description: 'Reviewed' });
    const { id: done } = await app.arrange.anAsset(workspace, { description: 'Reviewed' });
    const patch = { ownerId: owner, description: 'Reviewed' };
    await client.patch(BULK, { ids: [done], patch });
    const before = await everything();

    const { status, body } = await dryRun([bare, described, done], patch);

    expect([status, body]).toEqual([
      200,
      {
        successfulUpdates: 3,
        failedUpdates: 0,
        failures: [],
        changes: [
          { id: bare, fields: ['description', 'ownerId'] },
          { id: described, fields: ['ownerId'] },
        ],
      },
    ]);
    expect(await everything()).toBe(before);
  });

  it('returns the same counts and failures as the update', async () => {
    const { id } = await app.arrange.anAsset(workspace);
    const ids = [id, id.toUpperCase(), randomUUID()];
    const patch = { classification: 'INTERNAL', description: null };

    const { body: tried } = await dryRun(ids, patch);
    const { body: done } = await client.patch(BULK, { ids, patch });

    expect(tried).toEqual({ ...done, changes: [{ id, fields: ['classification'] }] });
    expect((await client.get(`${BULK}/${id}`)).headers.get('etag')).toBe('"2"');
    expect((await dryRun(ids, patch)).body['changes']).toEqual([]);
  });

  it('names ownerId when only the source of the owner would change', async () => {
    const { id } = await app.arrange.anAsset(workspace, { ownerId: owner });
    const { body } = await dryRun([id], { ownerId: owner });
    expect(body['changes']).toEqual([{ id, fields: ['ownerId'] }]);
  });

  it('names members of the asset for patches that differ, and writes nothing', async () => {
    await app.arrange.aTagKey(workspace, 'stage');
    await app.arrange.anEmployee(workspace, 'Mei', 'mei@example.com');
    const { id: first } = await app.arrange.anAsset(workspace);
    const { id: second } = await app.arrange.anAsset(workspace);
    const updates = [
      { id: first, patch: { ownerEmail: 'mei@example.com' } },
      { id: second, patch: { tags: [{ key: 'stage' }] } },
    ];
    const before = await everything();
    const { body } = await client.patch(BULK, { updates, dryRun: true });
    expect(body['changes']).toEqual([
      { id: first, fields: ['ownerId'] },
      { id: second, fields: ['tags'] },
    ]);
    expect(await everything()).toBe(before);
  });

  it.each([
    ['an owner that does not exist', () => ({ patch: { ownerId: randomUUID() } }), 400, 'validation_failed'],
    ['tags', () => ({ patch: { tags: [] } }), 400, 'validation_failed'],
    ['an employee', () => ({ ids: [owner] }), 403, 'resource_not_writable'],
    ['a dryRun that is no boolean', () => ({ dryRun: 'true' }), 400, 'validation_failed'],
  ])('refuses %s like the update', async (_, wrong, status, code) => {
    const { id } = await app.arrange.anAsset(workspace);
    const body = { ids: [id], patch: { classification: 'PUBLIC' }, dryRun: true, ...wrong() };
    const response = await client.patch(BULK, body);
    expect([response.status, response.body['code']]).toEqual([status, code]);
  });

  it('replays for the same key, and returns 409 when the update itself is sent with it', async () => {
    const { id } = await app.arrange.anAsset(workspace);
    const [patch, key] = [{ classification: 'PUBLIC' }, { 'Idempotency-Key': randomUUID() }];
    const first = await dryRun([id], patch, key);
    await client.patch(BULK, { ids: [id], patch });

    const again = await dryRun([id], patch, key);

    expect([again.headers.get('idempotent-replayed'), again.text]).toEqual(['true', first.text]);
    const update = await client.patch(BULK, { ids: [id], patch }, key);
    expect([update.status, update.body['code']]).toEqual([409, 'idempotency_conflict']);
  });

  it.each([false, null])('writes when dryRun is %s', async (value) => {
    const { id } = await app.arrange.anAsset(workspace);
    const { body } = await client.patch(BULK, { ids: [id], patch: { classification: 'PUBLIC' }, dryRun: value });
    expect(body).toEqual({ successfulUpdates: 1, failedUpdates: 0, failures: [] });
    expect((await client.get(`${BULK}/${id}`)).body['classification']).toBe('PUBLIC');
  });

  it('returns what null would clear in a merge patch', async () => {
    const { id } = await app.arrange.anAsset(workspace, { ownerId: owner, description: 'Reviewed' });
    const mergePatch = { 'Content-Type': 'application/merge-patch+json' };
    const { body } = await dryRun([id], { ownerId: null }, mergePatch);
    expect(body['changes']).toEqual([{ id, fields: ['ownerId'] }]);
  });

  it('hides assets of another workspace', async () => {
    const { id } = await app.arrange.anAsset(await app.arrange.aWorkspace());
    const { body } = await dryRun([id], { classification: 'PUBLIC' });
    expect(body).toMatchObject({ successfulUpdates: 0, failedUpdates: 1, changes: [] });
  });
});
