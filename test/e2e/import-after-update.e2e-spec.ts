import type { DataSource } from 'typeorm';
import { workspaceId } from '#libs/kernel';
import { operatorDataSource } from '../support/database-connection';
import type { ApiClient } from '../support/api-client';
import { importsOn } from '../support/imports';
import { type TestApp, startApp } from '../support/start-app';

const ASSETS = '/v1/inventory/assets';
const SOURCE = [
  { categoryKey: 'EMPLOYEE', externalId: 'hr-1', name: 'Ada Okafor' },
  { categoryKey: 'EMPLOYEE', externalId: 'hr-2', name: 'Grace Ito' },
  {
    ...{ categoryKey: 'CUSTOM', externalId: 'c-1', name: 'Badge printer', owner: 'hr-1' },
    ...{
      description: 'of the source',
      classification: 'PUBLIC',
      tags: [{ key: 'env' }, { key: 'aws:stack', value: 'a' }],
    },
  },
];

describe('An import after updates through the API', () => {
  let app: TestApp;
  let workspace: string;
  let client: ApiClient;
  let dataSource: DataSource;
  beforeAll(async () => {
    app = await startApp();
    workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace);
    for (const key of ['env', 'team']) await app.arrange.aTagKey(workspace, key);
    await app.arrange.aTagKey(workspace, 'aws:stack', { platform: true });
    dataSource = await operatorDataSource(app.database, 2);
  });
  afterAll(async () => {
    await dataSource.destroy();
    await app.stop();
  });

  const run = async (records: readonly object[]): Promise<void> => {
    const imports = importsOn(dataSource);
    const options = { source: 'test', files: [], dryRun: false, missing: 'keep', createTagKeys: null } as const;
    const lines = records.map((value, index) => ({ fileIndex: 0, line: index + 1, value }));
    const report = await imports.runLines(workspaceId(workspace), options, lines);
    expect(report.errors).toEqual([]);
  };
  const idOf = async (name: string): Promise<string> => {
    const { results } = await client.page(ASSETS, { pageSize: '100' });
    return results.find((asset) => asset['name'] === name)?.['id'] as string;
  };
  const again = SOURCE.map((record) =>
    record.externalId === 'c-1'
      ? {
          ...record,
          owner: 'hr-2',
          description: 'newer',
          classification: 'INTERNAL',
          tags: [{ key: 'aws:stack', value: 'b' }],
        }
      : record,
  );

  it.each([
    ['owner', { ownerId: 'ada' }, { ownerSource: 'API' }],
    ['description', { description: 'ours' }, { description: 'ours' }],
    ['classification', { classification: 'UNKNOWN' }, { classification: 'UNKNOWN' }],
    ['customer tags', { tags: [{ key: 'team' }] }, { tags: [{ key: 'aws:stack', value: 'b' }, { key: 'team' }] }],
    ['description, though it was the same before', { description: 'of the source' }, { description: 'of the source' }],
  ])('keeps the %s set by the API and imports everything else', async (_, patch, kept) => {
    await app.arrange.change(workspace, 'UPDATE asset SET api_set = 0 WHERE workspace_id = $1', [workspace]);
    await run(SOURCE);
    const [printer, ada, grace] = [await idOf('Badge printer'), await idOf('Ada Okafor'), await idOf('Grace Ito')];
    const sent = 'ownerId' in patch ? { ownerId: ada } : patch;
    expect((await client.patch(`${ASSETS}/${printer}`, sent)).status).toBe(200);
    await run(again);
    const brought = { description: 'newer', classification: 'INTERNAL', ownerId: grace, ownerSource: 'INTEGRATION' };
    const { body } = await client.get(`${ASSETS}/${printer}`);
    expect(body).toMatchObject({ ...brought, ...('ownerId' in patch ? { ownerId: ada } : {}), ...kept });
  });
});
