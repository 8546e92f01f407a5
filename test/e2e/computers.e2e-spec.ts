import { randomUUID } from 'node:crypto';
import type { ApiClient } from '../support/api-client';
import { type TestApp, startApp } from '../support/start-app';

const PATH = '/v1/computers';

describe('GET /v1/computers and /v1/computers/{id}', () => {
  let app: TestApp;
  let workspace: string;
  let client: ApiClient;

  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());
  beforeEach(async () => {
    workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace, ['computers:read']);
  });

  it('returns a computer with exactly the specified members', async () => {
    const owner = await app.arrange.anEmployee(workspace);
    const { id } = await app.arrange.anAsset(workspace, {
      type: 'COMPUTER',
      name: 'ada-mbp',
      ownerId: owner.id,
      columns: {
        operating_system: 'macOS',
        os_version: '15.1',
        serial_number: 'C02XK',
        last_checked_at: '2026-11-01T00:00:00Z',
        change_id: 0,
        updated_at: '2026-11-02T08:00:00.123Z',
        source: 'mdm',
        tags: '[{"key":"env","value":"","readOnly":true}]',
      },
      posture: {
        agent_version: '2.4.0',
        antivirus_installed: true,
        disk_encryption_enabled: false,
        password_manager_installed: null,
        screen_lock_enabled: true,
      },
    });
    const expected = {
      id,
      name: 'ada-mbp',
      operatingSystem: 'macOS',
      osVersion: '15.1',
      serialNumber: 'C02XK',
      ownerId: owner.id,
      isMonitored: true,
      lastCheckedAt: '2026-11-01T00:00:00.000Z',
      updatedAt: '2026-11-02T08:00:00.123Z',
      source: 'mdm',
      tags: [{ key: 'env', value: '', readOnly: true }],
      compliance: {
        agentVersion: '2.4.0',
        antivirusInstalled: true,
        diskEncryptionEnabled: false,
        passwordManagerInstalled: null,
        screenLockEnabled: true,
      },
    };
    expect((await client.page(PATH)).results).toEqual([expected]);
    expect((await client.get(`${PATH}/${id}`)).body).toEqual(expected);
  });

  it('lists unmonitored computers with unknown posture, never false', async () => {
    const { id } = await app.arrange.anAsset(workspace, { type: 'COMPUTER' });
    expect((await client.get(`${PATH}/${id}`)).body).toMatchObject({
      isMonitored: false,
      operatingSystem: null,
      osVersion: null,
      serialNumber: null,
      ownerId: null,
      lastCheckedAt: null,
      tags: [],
      compliance: {
        agentVersion: null,
        antivirusInstalled: null,
        diskEncryptionEnabled: null,
        passwordManagerInstalled: null,
        screenLockEnabled: null,
      },
    });
  });

  it.each([
    [{ agent_version: '1.0' }, true],
    [{ managed: true }, true],
    [{ managed: false }, false],
    [{ antivirus_installed: true }, false],
  ])('computes isMonitored from agent and device management: %j gives %s', async (posture, isMonitored) => {
    const { id } = await app.arrange.anAsset(workspace, { type: 'COMPUTER', posture });
    expect((await client.get(`${PATH}/${id}`)).body['isMonitored']).toBe(isMonitored);
  });

  it('returns every visible computer once, with an exact total', async () => {
    const visible: string[] = [];
    for (let index = 0; index < 12; index += 1) {
      visible.push((await app.arrange.anAsset(workspace, { type: 'COMPUTER', classification: 'PUBLIC' })).id);
      await app.arrange.anAsset(workspace, { type: 'CLOUD_OTHER' });
    }
    await app.arrange.anAsset(workspace, { type: 'COMPUTER', visibility: 'HIDDEN' });
    await app.arrange.anAsset(workspace, { type: 'COMPUTER', visibility: 'DELETED' });
    for (const pageSize of ['1', '5', '12', '100']) {
      expect((await client.walk(PATH, { pageSize })).map(({ id }) => id)).toEqual(visible);
    }
    expect((await client.page(PATH, { pageSize: '5' })).pageInfo).toMatchObject({ totalCount: 12, hasNextPage: true });
  });

  it('returns the same 404 for every unknown, hidden, deleted and foreign id, and for other assets', async () => {
    const others = [
      randomUUID(),
      (await app.arrange.anAsset(workspace, { type: 'COMPUTER', visibility: 'HIDDEN' })).id,
      (await app.arrange.anAsset(workspace, { type: 'COMPUTER', visibility: 'DELETED' })).id,
      (await app.arrange.anAsset(await app.arrange.aWorkspace(), { type: 'COMPUTER' })).id,
      (await app.arrange.anAsset(workspace, { type: 'CUSTOM' })).id,
    ];
    for (const id of others) {
      const response = await client.get(`${PATH}/${id}`);
      expect([response.status, response.body['code'], response.body['detail']]).toEqual([
        404,
        'not_found',
        'No computer has this id.',
      ]);
    }
  });

  it.each([`${PATH}/x`, `${PATH}?pageSize=0`, `${PATH}?categoryKey=CLOUD`, `${PATH}/${randomUUID()}?a=b`])(
    'refuses %s',
    async (path) => {
      const response = await client.get(path);
      expect([response.status, response.body['code']]).toEqual([400, 'validation_failed']);
    },
  );
});
