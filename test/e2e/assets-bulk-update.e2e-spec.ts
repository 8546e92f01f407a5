import { randomUUID } from 'node:crypto';
import type { ApiResponse, ApiClient } from '../support/api-client';
import { type TestApp, startApp } from '../support/start-app';

const BULK = '/v1/inventory/assets';

describe('PATCH /v1/inventory/assets', () => {
  let app: TestApp;
  let workspace: string;
  let client: ApiClient;
  let owner: string;
  beforeAll(async () => {
    app = await startApp({ DATABASE_POOL_SIZE: '1' });
    workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace);
    owner = (await app.arrange.anEmployee(workspace)).id;
    await app.arrange.aTagKey(workspace, 'env');
  });
  afterAll(() => app.stop());

  const assets = async (count: number): Promise<string[]> => {
    const ids: string[] = [];
    while (ids.length < count) ids.push((await app.arrange.anAsset(workspace, { type: 'CLOUD_QUEUE' })).id);
    return ids;
  };
  const read = async (id: string) => (await client.get(`${BULK}/${id}`)).body;
  const faultsOf = ({ body }: ApiResponse): string[] =>
    ((body['errors'] ?? []) as { pointer?: string; header?: string; code: string }[]).map(
      ({ pointer, header, code }) => `${pointer ?? header ?? ''} ${code}`,
    );
  const auditRows = async (ids: readonly string[]): Promise<number> => {
    const { rows } = await app.database.admin.query('SELECT 1 FROM audit_event WHERE asset_id = ANY ($1)', [ids]);
    return rows.length;
  };

  it('applies the patch to every id and returns counts, not assets', async () => {
    const ids = await assets(100);
    const patch = { ownerId: owner, classification: 'CONFIDENTIAL', description: 'Reviewed' };
    const response = await client.patch(BULK, { ids, patch });
    expect([response.status, response.body]).toEqual([200, { successfulUpdates: 100, failedUpdates: 0, failures: [] }]);
    for (const id of [ids[0], ids[99]] as string[]) {
      expect(await read(id)).toMatchObject({ ...patch, ownerSource: 'API', completeStatus: 'COMPLETE' });
    }
    expect(await auditRows(ids)).toBe(100);
    const page = await client.page(BULK, { classification: 'CONFIDENTIAL', subKey: 'CLOUD_QUEUE', pageSize: '1' });
    expect(page.pageInfo.totalCount).toBe(100);
  });

  it('counts distinct ids regardless of case, and lists ids without an asset', async () => {
    const [id] = (await assets(1)) as [string];
    const elsewhere = await app.arrange.anAsset(await app.arrange.aWorkspace());
    const hidden = await app.arrange.anAsset(workspace, { visibility: 'HIDDEN' });
    const hiddenEmployee = await app.arrange.anAsset(workspace, { type: 'EMPLOYEE', visibility: 'DELETED' });
    const missing = [elsewhere.id, hidden.id, hiddenEmployee.id, randomUUID()];
    const ids = [id, id.toUpperCase(), ...missing, ...missing];
    const response = await client.patch(BULK, { ids, patch: { classification: 'PUBLIC' } });
    expect([response.status, response.body]).toEqual([
      200,
      {
        successfulUpdates: 1,
        failedUpdates: 4,
        failures: missing.map((one) => ({ id: one, code: 'not_found', detail: expect.any(String) as string })),
      },
    ]);
  });

  it('returns 200 when every id failed', async () => {
    const response = await client.patch(BULK, { ids: [randomUUID()], patch: { classification: 'PUBLIC' } });
    expect([response.status, response.body]).toMatchObject([200, { successfulUpdates: 0, failedUpdates: 1 }]);
  });

  it('counts an unchanged asset as updated, without an audit event or a new version', async () => {
    const [same, other] = (await assets(2)) as [string, string];
    await client.patch(`${BULK}/${same}`, { classification: 'PUBLIC' });
    const tag = (await client.get(`${BULK}/${same}`)).headers.get('etag');
    const response = await client.patch(BULK, { ids: [same, other], patch: { classification: 'PUBLIC' } });
    expect(response.body).toMatchObject({ successfulUpdates: 2 });
    expect((await client.get(`${BULK}/${same}`)).headers.get('etag')).toBe(tag);
    expect([await auditRows([same]), await auditRows([other])]).toEqual([1, 1]);
    expect((await client.patch(BULK, { ids: [same], patch: {} })).body).toMatchObject({ successfulUpdates: 1 });
  });

  it('treats null tags as absent even in a merge patch, and null fields by the media type', async () => {
    const [id] = (await assets(1)) as [string];
    await client.patch(`${BULK}/${id}`, { tags: [{ key: 'env' }], description: 'old' });
    const body = { ids: [id], patch: { tags: null, description: null } };
    expect((await client.patch(BULK, body)).status).toBe(200);
    expect(await read(id)).toMatchObject({ description: 'old', tags: [{ key: 'env' }] });
    expect((await client.patch(BULK, body, { 'Content-Type': 'application/merge-patch+json' })).status).toBe(200);
    expect(await read(id)).toMatchObject({ description: null, tags: [{ key: 'env' }] });
  });

  it('returns 403 and applies nothing when one id is an employee', async () => {
    const ids = await assets(3);
    const sent = [...ids, owner, randomUUID(), owner.toUpperCase()];
    const response = await client.patch(BULK, { ids: sent, patch: { description: 'x' } });
    expect([response.status, response.body['code']]).toEqual([403, 'resource_not_writable']);
    expect(faultsOf(response)).toEqual(['/ids/3 readonly', '/ids/5 readonly']);
    for (const id of ids) expect(await read(id)).toMatchObject({ description: null });
    expect(await auditRows(ids)).toBe(0);
  });

  it('returns 400 for an invalid owner before it checks anything else', async () => {
    const ids = [...(await assets(1)), owner];
    const response = await client.patch(BULK, { ids, patch: { ownerId: ids[0], description: 'x' } });
    expect([response.status, faultsOf(response)]).toEqual([400, ['/patch/ownerId unknown']]);
    expect(await read(ids[0] as string)).toMatchObject({ description: null });
  });

  it('returns 400 for If-Match', async () => {
    const response = await client.patch(BULK, { ids: await assets(1), patch: {} }, { 'If-Match': '"1"' });
    expect([response.status, faultsOf(response)]).toEqual([400, ['If-Match format']]);
  });

  const id = '00000000-0000-0000-0000-000000000000';
  it.each([
    ['no members', {}, ['/ids required', '/patch required']],
    ['no ids', { ids: [], patch: {} }, ['/ids length']],
    ['101 ids, be they the same', { ids: Array.from({ length: 101 }, () => id), patch: {} }, ['/ids length']],
    ['ids that are no list', { ids: id, patch: {} }, ['/ids format']],
    [
      'ids that are no UUIDs',
      { ids: [id, 'x', 7, null], patch: {} },
      ['/ids/1 format', '/ids/2 format', '/ids/3 format'],
    ],
    ['null ids', { ids: null, patch: {} }, ['/ids required']],
    ['no patch', { ids: [id] }, ['/patch required']],
    ['a null patch', { ids: [id], patch: null }, ['/patch required']],
    ['a patch that is no object', { ids: [id], patch: [] }, ['/patch format']],
    ['tags', { ids: [id], patch: { tags: [] } }, ['/patch/tags readonly']],
    ['further members', { ids: [id], patch: {}, mode: 'fast' }, ['/mode unknown']],
    [
      'fields that cannot be written',
      { ids: [id], patch: { name: 'x', hue: 1 } },
      ['/patch/name readonly', '/patch/hue unknown'],
    ],
    ['too long a description', { ids: [id], patch: { description: 'x'.repeat(501) } }, ['/patch/description length']],
  ])('returns 400 for %s', async (_, body, faults) => {
    const response = await client.patch(BULK, body);
    expect([response.status, response.body['code'], faultsOf(response)]).toEqual([400, 'validation_failed', faults]);
  });

  it('requires a write scope', async () => {
    const reader = await app.arrange.aClient(workspace, ['all:read']);
    expect((await reader.patch(BULK, { ids: [id], patch: {} })).body['code']).toBe('insufficient_scope');
  });
});
