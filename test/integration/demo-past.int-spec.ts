import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Demo, prepareDemo } from '../../apps/local/src/demo';
import { runAdminOn } from '../support/admin-command';
import type { ApiClient } from '../support/api-client';
import { documentOf } from '../support/finished-command';
import { type TestApp, startApp } from '../support/start-app';

describe('npm start, where a workspace demo is there', () => {
  let app: TestApp;
  let localDir: string;
  beforeEach(async () => {
    app = await startApp();
    localDir = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    await admin('workspaces', 'create', 'demo', '--name', 'Demo');
  });
  afterEach(async () => {
    await app.stop();
    rmSync(localDir, { recursive: true });
  });

  const admin = async (...words: string[]): Promise<void> =>
    void documentOf(await runAdminOn(app.database, [...words, '--json']));
  const importFrom = async (source: string): Promise<void> => {
    const file = join(localDir, 'assets.ndjson');
    writeFileSync(file, '{"categoryKey":"CUSTOM","externalId":"c","name":"Safe"}\n');
    await admin('import', '--workspace', 'demo', '--source', source, file);
  };
  const start = async (): Promise<Demo & { readonly said: string[] }> => {
    const said: string[] = [];
    const settings = Object.assign({}, app.settings, { localDir });
    const say = (line: string): void => void said.push(line);
    const demo = await prepareDemo({ ...app.database, settings, say, checkStopped: () => undefined });
    return { ...demo, said };
  };
  const clientOf = async ({ credentials: { client_id, client_secret } }: Demo): Promise<ApiClient> => {
    const form = { grant_type: 'client_credentials', client_id, client_secret };
    const { access_token } = (await app.client().requestToken(form)).body;
    return app.client(String(access_token));
  };

  it('finishes a demo whose load was killed, and gives it its past', async () => {
    await importFrom('demo');

    const demo = await start();

    expect(demo.said).toEqual(['Loading the demo data…']);
    const client = await clientOf(demo);
    expect((await client.page('/v1/inventory/assets', { pageSize: '1' })).pageInfo.totalCount).toBeGreaterThan(400);
    const asOf = new Date(Date.now() - 30 * 86_400_000).toISOString();
    const stream = { headers: { Accept: 'application/x-ndjson' } };
    expect((await client.get(`/v1/inventory/assets?asOf=${asOf}`, stream)).status).toBe(200);
    expect((await start()).said).toEqual([]);
  });

  it('leaves another inventory there as it is', async () => {
    await importFrom('hr');

    const demo = await start();

    expect(demo.said).toEqual([]);
    const client = await clientOf(demo);
    expect((await client.page('/v1/inventory/assets')).pageInfo.totalCount).toBe(1);
  });
});
