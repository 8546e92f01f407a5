import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHECKPOINT_KEYS, KEY_KINDS, TOKEN_KEYS } from '#libs/platform/keys';
import { noteOf } from '../support/audit-verifier';
import { putKey } from '../support/put-key';
import { type TestApp, startApp, startInstance } from '../support/start-app';
import { until } from '../support/until';

const PATH = '/v1/audit-events/checkpoint';
const EMPTY_ROOT = createHash('sha256').digest('base64');

describe('GET /v1/audit-events/checkpoint', () => {
  let app: TestApp;
  beforeAll(async () => (app = await startApp()));
  afterAll(() => app.stop());

  const untilSize = async (client: ReturnType<TestApp['client']>, size: number): Promise<void> =>
    until(async () => (await noteOf(client)).size === size);

  it('returns a signed note of the empty tree before the first event', async () => {
    const workspace = await app.arrange.aWorkspace();
    const client = await app.arrange.aClient(workspace, ['audit:read']);

    const { status, headers } = await client.get(PATH);

    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(await noteOf(client)).toEqual({ origin: `api.example.test/audit/${workspace}`, size: 0, root: EMPTY_ROOT });
  });

  it('covers the events of its own workspace only, which the instance seals by itself', async () => {
    const [own, other] = [await app.arrange.aWorkspace(), await app.arrange.aWorkspace()];
    const client = await app.arrange.aClient(own, ['inventory:write', 'audit:read']);
    const { id } = await app.arrange.anAsset(own);
    for (const description of ['one', 'two', 'three']) {
      await client.patch(`/v1/inventory/assets/${id}`, { description });
    }

    await untilSize(client, 3);

    expect((await noteOf(await app.arrange.aClient(other, ['all:read']))).size).toBe(0);
  });

  it('requires audit:read and refuses parameters', async () => {
    const workspace = await app.arrange.aWorkspace();
    const { status } = await (await app.arrange.aClient(workspace, ['inventory:read'])).get(PATH);
    const { body } = await (await app.arrange.aClient(workspace, ['audit:read'])).get(`${PATH}?size=1`);
    expect([status, body['code']]).toEqual([403, 'validation_failed']);
  });

  it('returns 503 in the time of a read while Postgres is slow', async () => {
    const client = await app.arrange.aClient(await app.arrange.aWorkspace(), ['audit:read']);
    await client.get(PATH);
    const { admin } = app.database;
    await admin.query('BEGIN; LOCK TABLE audit_checkpoint IN ACCESS EXCLUSIVE MODE');
    try {
      const begun = performance.now();
      const { status } = await client.get(PATH);
      expect(status).toBe(503);
      expect(performance.now() - begun).toBeLessThan(4_000);
    } finally {
      await admin.query('ROLLBACK');
    }
  });

  it('returns 503 until there is a key, and when the tree was altered', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    await putKey(TOKEN_KEYS, directory);
    await putKey(KEY_KINDS.cursor, directory);
    const instance = await startInstance(app, {
      NODE_ENV: 'production',
      SIGNING_KEYS_DIR: directory,
      SECRET_PEPPER_FILE: app.settings.secretPepperFile,
      AUDIT_KEY_FILE: app.settings.auditKeyFile,
    });
    try {
      const workspace = await instance.arrange.aWorkspace();
      const client = await instance.arrange.aClient(workspace, ['inventory:write', 'audit:read']);
      const { status, body, headers } = await client.get(PATH);
      expect([status, body['code'], headers.get('retry-after')]).toEqual([503, 'service_unavailable', '1']);
      expect(instance.logLines.map(({ message }) => message)).toContainEqual(
        expect.stringContaining('(*.checkpoint.pem); admin keys init makes one'),
      );

      await putKey(CHECKPOINT_KEYS, directory);
      await until(async () => (await client.get(PATH)).status === 200);
      const { id } = await instance.arrange.anAsset(workspace);
      await client.patch(`/v1/inventory/assets/${id}`, { description: 'one' });
      await untilSize(client, 1);
      await app.database.admin.query('UPDATE audit_checkpoint SET size = 2 WHERE workspace_id = $1', [workspace]);
      expect((await client.get(PATH)).status).toBe(503);
    } finally {
      await instance.stop();
      rmSync(directory, { recursive: true });
    }
  });
});
