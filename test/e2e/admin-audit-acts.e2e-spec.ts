import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditEvent } from '#libs/client';
import { runAdmin } from '../support/admin-command';
import { type Row, documentOf } from '../support/finished-command';
import { redisOfTheRun } from '../support/redis-of-the-run';
import { Sealing } from '../support/sealing';
import { type TestApp, startApp } from '../support/start-app';

describe("Operators' commands in the audit of the API", () => {
  let app: TestApp;
  let sealing: Sealing;
  let workspace: string;
  let slug: string;
  let directory: string;

  beforeAll(async () => {
    // Without Redis each change would wait for leases.
    app = await startApp({ REDIS_URL: redisOfTheRun() });
    sealing = await Sealing.of(app);
    workspace = await app.arrange.aWorkspace();
    const { rows } = await app.database.admin.query<{ slug: string }>('SELECT slug FROM workspace WHERE id = $1', [
      workspace,
    ]);
    slug = rows[0]?.slug ?? '';
    directory = mkdtempSync(join(tmpdir(), 'compliance-audit-'));
  });
  afterAll(async () => {
    rmSync(directory, { recursive: true });
    await sealing.close();
    await app.stop();
  });

  const run = async (...words: string[]): Promise<Row> => {
    const environment = {
      DATABASE_URL: app.database.databaseUrl,
      MIGRATION_DATABASE_URL: app.database.migrationDatabaseUrl,
      LOCAL_DIR: app.settings.localDir,
      REDIS_URL: redisOfTheRun(),
    };
    return documentOf(await runAdmin([...words, '--json'], environment));
  };
  const change = (field: string, before: unknown, after: unknown) => ({ field, old: before, new: after });

  it('are events that a client reads, each with its actor, target and changes', async () => {
    const here = ['--workspace', slug];
    const created = await run('applications', 'create', ...here, '--name', 'siem', '--scope', 'audit:read');
    const id = String(created['client_id']);
    const { client_secret: rotated } = await run('applications', 'rotate-secret', id);
    await run('applications', 'disable', id);
    await run('applications', 'enable', id);
    await run('applications', 'set-scopes', id, '--scope', 'audit:read', '--scope', 'inventory:read');
    await run('applications', 'set-limits', id, '--read', '500/1000');
    await run('applications', 'clear-limits', id);
    await run('tag-keys', 'create', ...here, '--key', 'env');
    await run('tag-keys', 'delete', ...here, '--key', 'env', '--yes');
    const file = join(directory, 'hr.ndjson');
    writeFileSync(file, `${JSON.stringify({ categoryKey: 'EMPLOYEE', externalId: '1', name: 'A', email: 'a@b.c' })}\n`);
    await run('import', ...here, '--source', 'hr', file);

    await sealing.seal();
    const { results } = (
      await (await app.arrange.aClient(workspace)).get<{ results: AuditEvent[] }>('/v1/audit-events')
    ).body;

    const operator = { actor: { type: 'OPERATOR', clientId: null }, request: { id: null } };
    const application = { ...operator, target: { type: 'APPLICATION', id } };
    const tagKey = { ...operator, target: { type: 'TAG_KEY', id: 'env' }, changes: [] };
    const counts = ['created', 'failed', 'hidden', 'unchanged', 'updated'];
    expect(results).toMatchObject([
      {
        ...application,
        action: 'application.created',
        changes: [change('disabled', null, false), change('limits', null, {}), change('scopes', null, ['audit:read'])],
      },
      { ...application, action: 'application.secret_rotated', changes: [] },
      { ...application, action: 'application.disabled', changes: [change('disabled', false, true)] },
      { ...application, action: 'application.enabled', changes: [change('disabled', true, false)] },
      {
        ...application,
        action: 'application.scopes_set',
        changes: [change('scopes', ['audit:read'], ['audit:read', 'inventory:read'])],
      },
      { ...application, action: 'application.limits_set', changes: [change('limits', {}, { read: '500/1000' })] },
      { ...application, action: 'application.limits_set', changes: [change('limits', { read: '500/1000' }, {})] },
      { ...tagKey, action: 'tag_key.created' },
      { ...tagKey, action: 'tag_key.deleted' },
      {
        actor: { type: 'IMPORT', clientId: null },
        target: { type: 'IMPORT', id: 'hr' },
        action: 'import.completed',
        changes: counts.map((field) => change(field, null, field === 'created' ? 1 : 0)),
      },
    ]);
    const told = JSON.stringify(results);
    for (const secret of [created['client_secret'], rotated]) expect(told).not.toContain(secret);
  });
});
