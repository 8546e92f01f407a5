import type { ApiResponse, ApiClient } from '../support/api-client';
import { type TestApp, startApp } from '../support/start-app';

const path = (id: string): string => `/v1/inventory/assets/${id}`;
const KEYS = ['env', 'team', 'zone'];

describe('tags of PATCH /v1/inventory/assets/{id}', () => {
  let app: TestApp;
  let workspace: string;
  let client: ApiClient;
  beforeAll(async () => {
    app = await startApp();
    workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace);
    for (const key of KEYS)
      await app.arrange.aTagKey(workspace, key, { value: key === 'env' ? 'production' : undefined });
    await app.arrange.aTagKey(workspace, 'aws:stack', { platform: true });
    const elsewhere = await app.arrange.aWorkspace();
    await app.arrange.aTagKey(elsewhere, 'theirs');
  });
  afterAll(() => app.stop());

  /** An asset with a platform tag, which no update may change. */
  const anAsset = async (): Promise<string> => {
    const platformTag = JSON.stringify([{ key: 'aws:stack', value: 'prod', readOnly: true }]);
    const asset = await app.arrange.anAsset(workspace, { columns: { tags: platformTag } });
    await app.arrange.change(
      workspace,
      `INSERT INTO asset_tag SELECT $1, $2, id, 'prod' FROM tag_key WHERE workspace_id = $1 AND key = 'aws:stack'`,
      [workspace, asset.internalId],
    );
    return asset.id;
  };
  const setTags = (id: string, keys: readonly string[], headers = {}): Promise<ApiResponse> =>
    client.patch(path(id), { tags: keys.map((key) => ({ key })) }, headers);
  const keysOf = ({ body }: ApiResponse): string[] => (body['tags'] as { key: string }[]).map(({ key }) => key);
  /** The tag rows, which must equal the rendered tags. */
  const rowsOf = async (id: string): Promise<string[]> => {
    const { rows } = await app.database.admin.query<{ key: string }>(
      `SELECT key FROM asset_tag JOIN tag_key ON tag_key.id = tag_key_id JOIN asset ON asset.id = asset_id
        WHERE asset.public_id = $1 ORDER BY key COLLATE "C"`,
      [id],
    );
    return rows.map(({ key }) => key);
  };
  const PLATFORM_TAG = { key: 'aws:stack', value: 'prod', readOnly: true };

  it('adds missing keys with their defined value and keeps platform tags', async () => {
    const id = await anAsset();
    const response = await setTags(id, ['zone', 'env']);
    expect([response.status, response.body['tags']]).toEqual([
      200,
      [PLATFORM_TAG, { key: 'env', value: 'production', readOnly: false }, { key: 'zone', value: '', readOnly: false }],
    ]);
    expect((await client.get(path(id))).body).toEqual(response.body);
    expect(await rowsOf(id)).toEqual(['aws:stack', 'env', 'zone']);
  });

  it('removes keys that the request leaves out, down to none', async () => {
    const id = await anAsset();
    await setTags(id, ['env', 'team']);
    expect(keysOf(await setTags(id, ['team', 'zone']))).toEqual(['aws:stack', 'team', 'zone']);
    expect(await rowsOf(id)).toEqual(['aws:stack', 'team', 'zone']);
    expect(keysOf(await setTags(id, []))).toEqual(['aws:stack']);
    expect(await rowsOf(id)).toEqual(['aws:stack']);
  });

  it('keeps tags for null in application/json, and removes customer tags for null in a merge patch', async () => {
    const id = await anAsset();
    await setTags(id, ['env']);
    expect(keysOf(await client.patch(path(id), { tags: null }))).toEqual(['aws:stack', 'env']);
    const merged = await client.patch(path(id), { tags: null }, { 'Content-Type': 'application/merge-patch+json' });
    expect(keysOf(merged)).toEqual(['aws:stack']);
  });

  it('accepts tags as they were read, except platform tags', async () => {
    const id = await anAsset();
    const { body } = await setTags(id, ['env', 'team']);
    const customer = (body['tags'] as { readOnly: boolean }[]).filter(({ readOnly }) => !readOnly);
    const again = await client.patch(path(id), { tags: [...customer, { key: 'env', value: null, readOnly: null }] });
    expect([again.status, again.body]).toEqual([200, body]);
    expect((await client.patch(path(id), { tags: body['tags'] })).status).toBe(400);
  });

  it('keeps the defined values whatever values a request sends', async () => {
    const id = await anAsset();
    const response = await client.patch(path(id), { tags: [{ key: 'env', value: 'mine', readOnly: true }] });
    expect(response.body['tags']).toContainEqual({ key: 'env', value: 'production', readOnly: false });
  });

  it('records old and new tags in one audit event for each change', async () => {
    const id = await anAsset();
    await setTags(id, ['env']);
    await setTags(id, ['env', 'env']);
    const { rows } = await app.database.admin.query<{ changes: object }>(
      'SELECT changes FROM audit_event WHERE asset_id = $1',
      [id],
    );
    const env = { key: 'env', value: 'production', readOnly: false };
    expect(rows).toEqual([{ changes: { tags: { old: [PLATFORM_TAG], new: [PLATFORM_TAG, env] } } }]);
  });

  it.each([
    ['an unknown key', [{ key: 'env' }, { key: 'nobody' }], '/tags/1/key unknown'],
    ["another workspace's key", [{ key: 'theirs' }], '/tags/0/key unknown'],
    ['a key of the platform', [{ key: 'aws:stack' }], '/tags/0/key readonly'],
    ['a key in other letters', [{ key: 'ENV' }], '/tags/0/key unknown'],
    ['an empty key', [{ key: '' }], '/tags/0/key unknown'],
    ['no key', [{ value: 'x' }], '/tags/0/key required'],
    ['a null key', [{ key: null }], '/tags/0/key required'],
    ['a key of another type', [{ key: 7 }], '/tags/0/key format'],
    ['too long a key', [{ key: 'k'.repeat(1001) }], '/tags/0/key length'],
    ['too long a value', [{ key: 'env', value: '😀'.repeat(256) }], '/tags/0/value length'],
    ['a value of another type', [{ key: 'env', value: 7 }], '/tags/0/value format'],
    ['a readOnly of another type', [{ key: 'env', readOnly: 'no' }], '/tags/0/readOnly format'],
    ['a further member', [{ key: 'env', colour: 'red' }], '/tags/0/colour unknown'],
    ['an entry that is no object', ['env'], '/tags/0 format'],
    ['an entry that is a list', [[{ key: 'env' }]], '/tags/0 format'],
    ['tags that are no list', { key: 'env' }, '/tags format'],
    ['21 entries, be they the same', Array.from({ length: 21 }, () => ({ key: 'env' })), '/tags length'],
  ])('returns 400 for %s', async (_, tags, fault) => {
    const id = await anAsset();
    const response = await client.patch(path(id), { tags, description: 'must not be written' });
    const faults = response.body['errors'] as { pointer: string; code: string }[];
    expect([response.status, faults.map(({ pointer, code }) => `${pointer} ${code}`)]).toEqual([400, [fault]]);
    expect((await client.get(path(id))).body).toMatchObject({ description: null, tags: [PLATFORM_TAG] });
  });

  it('accepts 20 entries, a value of 255 characters and a key of 1,000', async () => {
    const id = await anAsset();
    const long = 'ключ'.repeat(250);
    await app.arrange.aTagKey(workspace, long);
    const entries = Array.from({ length: 19 }, () => ({ key: 'env', value: '😀'.repeat(255) }));
    const response = await client.patch(path(id), { tags: [...entries, { key: long }] });
    expect([response.status, keysOf(response)]).toEqual([200, ['aws:stack', 'env', long]]);
  });

  it('returns 400 for a key that is deleted after the update looked it up', async () => {
    const { id } = await app.arrange.anAsset(workspace);
    await app.arrange.aTagKey(workspace, 'doomed');
    const { admin } = app.database;
    await admin.query('BEGIN');
    // The update may read and lock its row, and waits when it begins to write.
    await admin.query('LOCK TABLE asset IN SHARE MODE');
    const pending = setTags(id, ['doomed']);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await admin.query(`DELETE FROM tag_key WHERE workspace_id = $1 AND key = 'doomed'`, [workspace]);
    await admin.query('COMMIT');
    expect((await pending).status).toBe(400);
    expect([await rowsOf(id), (await client.get(path(id))).body['tags']]).toEqual([[], []]);
  });

  it.each([
    ['with another value', { value: 'new' }, [200, [{ key: 'again', value: 'new', readOnly: false }], ['again']]],
    ['as one of the platform', { platform: true }, [400, [], []]],
  ])(
    'uses the new tag key when a key is deleted and created again, %s, after the update looked it up',
    async (_, as, now) => {
      const place = await app.arrange.aWorkspace();
      const [asset, placeClient] = [await app.arrange.anAsset(place), await app.arrange.aClient(place)];
      await app.arrange.aTagKey(place, 'again', { value: 'old' });
      const { admin } = app.database;
      await admin.query('BEGIN');
      await admin.query('LOCK TABLE asset IN SHARE MODE');
      const pending = placeClient.patch(path(asset.id), { tags: [{ key: 'again' }] });
      await new Promise((resolve) => setTimeout(resolve, 300));
      await admin.query('DELETE FROM tag_key WHERE workspace_id = $1', [place]);
      await app.arrange.aTagKey(place, 'again', as);
      await admin.query('COMMIT');
      const { status } = await pending;
      const { body } = await placeClient.get(path(asset.id));
      expect([status, body['tags'], await rowsOf(asset.id)]).toEqual(now);
    },
  );

  it('returns 400 for a key that is deleted while the update waits for it', async () => {
    const id = await anAsset();
    await app.arrange.aTagKey(workspace, 'going');
    const { admin } = app.database;
    await admin.query('BEGIN');
    await admin.query(`DELETE FROM tag_key WHERE workspace_id = $1 AND key = 'going'`, [workspace]);
    const pending = setTags(id, ['going']);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await admin.query('COMMIT');
    expect((await pending).status).toBe(400);
    expect(await rowsOf(id)).toEqual(['aws:stack']);
  });
});
