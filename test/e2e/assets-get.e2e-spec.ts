import { randomUUID } from 'node:crypto';
import { categoryOf } from '../../libs/inventory/src/assets/domain/asset-category';
import type { ApiClient } from '../support/api-client';
import { type TestApp, startApp } from '../support/start-app';

const PATH = '/v1/inventory/assets';

describe('GET /v1/inventory/assets/{id}', () => {
  let app: TestApp;
  let workspace: string;
  let client: ApiClient;

  beforeAll(async () => {
    app = await startApp();
    workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace);
  });
  afterAll(() => app.stop());

  it('returns exactly the specified members for each category, the others null', async () => {
    const here = await app.arrange.aWorkspace();
    const owner = await app.arrange.anEmployee(here);
    const everything = {
      account_id: '123456789012',
      region: 'eu-west-1',
      serial_number: 'C02XK',
      operating_system: 'macOS',
      os_version: '15.1',
      email: 'ada@example.com',
      contains_patient_data: true,
      contains_user_data: null,
      user_data_info: 'notes',
      last_checked_at: '2026-11-01T00:00:00Z',
      created_at: '2026-01-02T03:04:05.678Z',
      external_id: 'ext-1',
      change_id: 0,
      updated_at: '2026-11-02T08:00:00.123Z',
    };
    for (const type of ['CLOUD_QUEUE', 'COMPUTER', 'CUSTOM', 'INFORMATION', 'EMPLOYEE'] as const) {
      const asset = await app.arrange.anAsset(here, {
        type,
        name: 'Ünïcode 🖥',
        classification: 'CONFIDENTIAL',
        description: 'What it is',
        ownerId: owner.id,
        columns: { ...everything, external_id: type, tags: '[{"key":"env","value":"prod","readOnly":false}]' },
      });
      const { body } = await (await app.arrange.aClient(here)).get(`${PATH}/${asset.id}`);
      const cloud = type === 'CLOUD_QUEUE';
      const computer = type === 'COMPUTER';
      expect(body).toEqual({
        id: asset.id,
        name: 'Ünïcode 🖥',
        categoryKey: categoryOf(type),
        type,
        classification: 'CONFIDENTIAL',
        completeStatus: 'COMPLETE',
        description: 'What it is',
        ownerId: owner.id,
        ownerSource: 'INTEGRATION',
        externalId: type,
        source: 'test',
        createdAt: '2026-01-02T03:04:05.678Z',
        updatedAt: '2026-11-02T08:00:00.123Z',
        lastCheckedAt: '2026-11-01T00:00:00.000Z',
        tags: [{ key: 'env', value: 'prod', readOnly: false }],
        dataStored: ['CUSTOM', 'INFORMATION'].includes(type)
          ? { containsPatientData: true, containsUserData: null, userDataInfo: 'notes' }
          : null,
        accountId: cloud ? '123456789012' : null,
        region: cloud ? 'eu-west-1' : null,
        serialNumber: computer ? 'C02XK' : null,
        osVersion: computer ? 'macOS 15.1' : null,
        email: type === 'EMPLOYEE' ? 'ada@example.com' : null,
      });
    }
  });

  it('returns the same asset as the list, for upper and lower case ids', async () => {
    const { id } = await app.arrange.anAsset(workspace);
    const [listed] = (await client.page(PATH)).results;
    expect((await client.get(`${PATH}/${id}`)).body).toEqual(listed);
    expect((await client.get(`${PATH}/${id.toUpperCase()}`)).body).toEqual(listed);
  });

  it('returns the same 404 for every unknown, hidden, deleted and foreign id', async () => {
    const hidden = await app.arrange.anAsset(workspace, { visibility: 'HIDDEN' });
    const deleted = await app.arrange.anAsset(workspace, { visibility: 'DELETED' });
    const foreign = await app.arrange.anAsset(await app.arrange.aWorkspace());
    const bodies: unknown[] = [];
    for (const id of [randomUUID(), hidden.id, deleted.id, foreign.id]) {
      const { status, body } = await client.get(`${PATH}/${id}`);
      expect(status).toBe(404);
      bodies.push({ ...body, requestId: '', instance: (body['instance'] as string).replace(id, '') });
    }
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
    expect(bodies[0]).toMatchObject({ code: 'not_found', title: 'Not Found', status: 404 });
  });

  it('accepts any id of 8-4-4-4-12 hexadecimal digits', async () => {
    expect((await client.get(`${PATH}/00000000-0000-0000-0000-000000000000`)).status).toBe(404);
    expect((await client.get(`${PATH}/ffffffff-ffff-ffff-ffff-ffffffffffff`)).status).toBe(404);
  });

  it.each([
    'x',
    '1',
    'null',
    '%00',
    '%ZZ',
    '%FF',
    '%2F',
    '..%2f..',
    randomUUID().replaceAll('-', ''),
    `${randomUUID()}x`,
    '💥',
  ])('returns 400 and names id for %s', async (id) => {
    const response = await client.get(`${PATH}/${id}`);
    expect([response.status, response.body['code']]).toEqual([400, 'validation_failed']);
    expect(response.body['errors']).toEqual([expect.objectContaining({ parameter: 'id' })]);
  });

  it('checks the token before the id', async () => {
    for (const id of ['x', '%ZZ', '%FF', randomUUID()]) {
      expect((await app.client().get(`${PATH}/${id}`)).body['code']).toBe('token_missing');
    }
  });

  it('refuses every query parameter', async () => {
    const { id } = await app.arrange.anAsset(workspace);
    const response = await client.get(`${PATH}/${id}?expand=tags`);
    expect([response.status, response.body['code']]).toEqual([400, 'validation_failed']);
    expect(response.body['errors']).toEqual([expect.objectContaining({ parameter: 'expand' })]);
  });
});
