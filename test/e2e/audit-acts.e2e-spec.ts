import type { AuditEvent } from '#libs/client';
import { workspaceId } from '#libs/kernel';
import type { ApiClient } from '../support/api-client';
import { type TestOperator, openOperator } from '../support/operator';
import { Sealing } from '../support/sealing';
import { type TestApp, startApp } from '../support/start-app';

describe('Audit events of operators and imports', () => {
  let app: TestApp;
  let operator: TestOperator;
  let sealing: Sealing;
  let workspace: string;
  let client: ApiClient;

  beforeAll(async () => {
    app = await startApp();
    operator = await openOperator(app);
    sealing = await Sealing.of(app);
  });
  afterAll(async () => {
    await sealing.close();
    await operator.close();
    await app.stop();
  });
  beforeEach(async () => {
    workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace);
  });

  const events = async (): Promise<AuditEvent[]> => {
    await sealing.seal();
    const { status, body } = await client.get('/v1/audit-events');
    expect(status).toBe(200);
    return body['results'] as AuditEvent[];
  };
  const told = async () => (await events()).map(({ action, changes }) => [action, ...changes]);
  const importLines = (
    values: readonly object[],
    options: { dryRun?: boolean; missing?: 'hide'; createTagKeys?: 'platform' } = {},
  ) =>
    operator.imports.runLines(
      workspaceId(workspace),
      { source: 'hr', files: [], dryRun: false, missing: 'keep', createTagKeys: null, ...options },
      values.map((value, place) => ({ fileIndex: 0, line: place + 1, value })),
    );
  const employee = (externalId: string) => ({
    categoryKey: 'EMPLOYEE',
    externalId,
    name: 'Ada',
    email: 'a@example.com',
  });

  it('are absent for a command that changes nothing', async () => {
    const { applications } = operator;
    const { application } = await applications.create(workspaceId(workspace), 'siem', ['audit:read']);
    await applications.setDisabled(application.clientId, false);
    await applications.setScopes(application.clientId, ['audit:read']);
    await applications.clearLimits(application.clientId);

    expect((await told()).map(([action]) => action)).toEqual(['application.created']);
  });

  it('show created and deleted tag keys', async () => {
    const here = workspaceId(workspace);
    const tagKey = { key: 'Süd 🗝', value: null, platform: false };
    await operator.tagKeys.create(here, tagKey);
    expect(await operator.tagKeys.create(here, tagKey)).toBeNull();
    await operator.tagKeys.delete(here, tagKey.key);
    expect(await operator.tagKeys.delete(here, tagKey.key)).toBeNull();

    const found = await events();

    expect(found.map(({ action, actor, target, changes }) => ({ action, actor, target, changes }))).toEqual(
      ['tag_key.created', 'tag_key.deleted'].map((action) => ({
        action,
        actor: { type: 'OPERATOR', clientId: null, name: 'ops', personId: null },
        target: { type: 'TAG_KEY', id: tagKey.key },
        changes: [],
      })),
    );
  });

  it('show the counts of an import, and are absent for a dry run', async () => {
    await importLines([employee('1'), employee('2'), { categoryKey: 'NONE' }], { dryRun: true });
    await importLines([employee('1'), employee('2'), { categoryKey: 'NONE' }]);
    await importLines([employee('1')], { missing: 'hide' });

    const [first, second, ...others] = await events();

    expect(others).toEqual([]);
    expect(first).toMatchObject({
      action: 'import.completed',
      actor: { type: 'IMPORT', clientId: null, name: 'ops', personId: null },
      target: { type: 'IMPORT', id: 'hr' },
      request: { id: null },
      changes: [
        { field: 'created', old: null, new: 2 },
        { field: 'failed', old: null, new: 1 },
        { field: 'hidden', old: null, new: 0 },
        { field: 'unchanged', old: null, new: 0 },
        { field: 'updated', old: null, new: 0 },
      ],
    });
    expect(second?.changes).toContainEqual({ field: 'hidden', old: null, new: 1 });
  });

  it('show each tag key that an import made, and are absent for a dry run', async () => {
    await operator.tagKeys.create(workspaceId(workspace), { key: 'env', value: null, platform: false });
    const tagged = [{ ...employee('1'), tags: ['env', 'Süd 🗝', 'team'].map((key) => ({ key, value: 'v' })) }];
    await importLines(tagged, { createTagKeys: 'platform', dryRun: true });
    await importLines(tagged, { createTagKeys: 'platform' });
    await importLines(tagged, { createTagKeys: 'platform' });

    const found = (await events()).filter(({ actor }) => actor.type === 'IMPORT');

    expect(found.map(({ action }) => action)).toEqual([
      ...['tag_key.created', 'tag_key.created'],
      ...['import.completed', 'import.completed'],
    ]);
    for (const [place, id] of ['Süd 🗝', 'team'].entries()) {
      expect(found[place]).toMatchObject({
        actor: { type: 'IMPORT', clientId: null, name: 'ops', personId: null },
        target: { type: 'TAG_KEY', id },
        changes: [],
      });
    }
  });

  it('are found by their action', async () => {
    await operator.tagKeys.create(workspaceId(workspace), { key: 'env', value: null, platform: true });
    await importLines([employee('1')]);
    await sealing.seal();

    const { body } = await client.get('/v1/audit-events?action=import.completed');

    expect(body['results']).toMatchObject([{ sequence: 2, action: 'import.completed' }]);
  });
});
