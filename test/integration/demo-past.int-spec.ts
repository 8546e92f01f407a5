import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareDemo } from '../../apps/local/src/demo';
import { runAdminOn } from '../support/admin-command';
import { documentOf } from '../support/finished-command';
import { type TestApp, startApp } from '../support/start-app';

describe('The demo after a first start that was killed while it filled the workspace', () => {
  let app: TestApp;
  let localDir: string;
  beforeAll(async () => {
    app = await startApp();
    localDir = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
  });
  afterAll(async () => {
    await app.stop();
    rmSync(localDir, { recursive: true });
  });

  it('gets its past', async () => {
    const { database, settings } = app;
    documentOf(await runAdminOn(database, ['workspaces', 'create', 'demo', '--name', 'Demo', '--json']));
    const file = join(localDir, 'assets.ndjson');
    writeFileSync(file, '{"categoryKey":"CUSTOM","externalId":"c","name":"Safe"}\n');
    documentOf(await runAdminOn(database, ['import', '--workspace', 'demo', '--source', 'demo', '--json', file]));
    const unfinished = join(localDir, 'demo-unfinished');
    writeFileSync(unfinished, '');

    const said: string[] = [];
    const { credentials } = await prepareDemo({
      ...database,
      settings: Object.assign({}, settings, { localDir }),
      say: (line) => void said.push(line),
      checkStopped: () => undefined,
    });

    expect([said, existsSync(unfinished)]).toEqual([['Loading the demo data…'], false]);
    const { client_id, client_secret } = credentials;
    const form = { grant_type: 'client_credentials', client_id, client_secret };
    const { access_token } = (await app.client().requestToken(form)).body;
    const asOf = new Date(Date.now() - 30 * 86_400_000).toISOString();
    const stream = { headers: { Accept: 'application/x-ndjson' } };
    const past = await app.client(String(access_token)).get(`/v1/inventory/assets?asOf=${asOf}`, stream);
    expect(past.status).toBe(200);
  });
});
