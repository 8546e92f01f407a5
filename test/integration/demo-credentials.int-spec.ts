import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workspaceId } from '#libs/kernel';
import { demoCredentials } from '../../apps/local/src/demo-access';
import { type TestOperator, openOperator } from '../support/operator';
import { type TestApp, startApp } from '../support/start-app';

describe('The credentials that npm start prints', () => {
  let app: TestApp;
  let operator: TestOperator;
  let localDir: string;
  let id: string;
  beforeAll(async () => {
    app = await startApp();
    operator = await openOperator(app);
    id = await app.arrange.aWorkspace();
    localDir = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
  });
  afterAll(async () => {
    await operator.close();
    await app.stop();
    rmSync(localDir, { recursive: true });
  });

  const credentials = () => {
    const workspace = { id: workspaceId(id), slug: 'demo', name: 'Demo', createdAt: new Date() };
    return demoCredentials(operator.applications, workspace, Object.assign({}, app.settings, { localDir }));
  };

  it('stay the same while they work', async () => {
    expect(await credentials()).toEqual(await credentials());
  });

  it.each<[string, (clientId: string) => Promise<unknown>]>([
    ['the secret was replaced', (clientId) => operator.applications.rotateSecret(clientId, null)],
    ['the secret was removed', (clientId) => operator.applications.removeSecret(clientId)],
    ['a scope was removed', (clientId) => operator.applications.setScopes(clientId, ['all:read'])],
    ['the application was disabled', (clientId) => operator.applications.setDisabled(clientId, true)],
  ])('are new ones after %s', async (_, change) => {
    const before = await credentials();
    await change(before.client_id);

    const after = await credentials();

    const form = { grant_type: 'client_credentials', client_id: after.client_id, client_secret: after.client_secret };
    expect(after.client_id).not.toBe(before.client_id);
    expect((await app.client().requestToken(form)).body).toMatchObject({ scope: 'all:read all:write' });
  });
});
