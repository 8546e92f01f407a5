import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { AuditEvent } from '#libs/client';
import { runAdmin } from '../support/admin-command';
import { type Row, documentOf, expectFault } from '../support/finished-command';
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
    slug = await app.arrange.slugOf(workspace);
    directory = mkdtempSync(join(tmpdir(), 'compliance-audit-'));
  });
  afterAll(async () => {
    rmSync(directory, { recursive: true });
    await sealing.close();
    await app.stop();
  });

  const environment = (): Record<string, string> => ({
    DATABASE_URL: app.database.databaseUrl,
    MIGRATION_DATABASE_URL: app.database.migrationDatabaseUrl,
    LOCAL_DIR: app.settings.localDir,
    REDIS_URL: redisOfTheRun(),
    OPERATOR_NAME: 'on call',
  });
  const run = async (...words: string[]): Promise<Row> =>
    documentOf(await runAdmin([...words, '--json'], environment()));
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

    const operator = { actor: { type: 'OPERATOR', clientId: null, name: 'on call' }, request: { id: null } };
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
        actor: { type: 'IMPORT', clientId: null, name: 'on call' },
        target: { type: 'IMPORT', id: 'hr' },
        action: 'import.completed',
        changes: counts.map((field) => change(field, null, field === 'created' ? 1 : 0)),
      },
    ]);
    const { rows } = await app.database.admin.query<{ digest: string }>(
      `SELECT encode(secret_digest, 'hex') AS digest FROM application WHERE client_id = $1`,
      [id],
    );
    const told = JSON.stringify(results);
    for (const secret of [created['client_secret'], rotated, rows[0]?.digest]) expect(told).not.toContain(secret);
  });

  it('name who ran them: --as, else OPERATOR_NAME, else who ran sudo, else the login name', async () => {
    const created = await run('applications', 'create', '--workspace', slug, '--name', 'a', '--scope', 'audit:read');
    const id = String(created['client_id']);
    const { OPERATOR_NAME, ...others } = environment();
    const inTurn: [Record<string, string>, string[], string][] = [
      [{ OPERATOR_NAME: 'nightly', SUDO_USER: 'ada' }, ['--as', 'Ada O.'], 'Ada O.'],
      [{ OPERATOR_NAME: 'nightly', SUDO_USER: 'ada' }, [], 'nightly'],
      [{ OPERATOR_NAME: '', SUDO_USER: 'ada' }, [], 'ada'],
      [{}, [], userInfo().username],
    ];
    for (const [index, [more, words]] of inTurn.entries()) {
      const verb = index % 2 === 0 ? 'disable' : 'enable';
      documentOf(await runAdmin(['applications', verb, id, ...words, '--json'], { ...others, ...more }));
    }

    const listed = await run('audit', 'list', '--workspace', slug);
    const drawn = await runAdmin(['audit', 'list', '--workspace', slug], environment());

    const names = (listed['items'] as Row[]).filter(({ targetId }) => targetId === id).map((item) => item['actorName']);
    expect(names.reverse()).toEqual([OPERATOR_NAME, ...inTurn.map(([, , name]) => name)]);
    expect(drawn.stdout).toContain('Ada O.');
  });

  it.each([
    ['', 'empty'],
    [' ', 'blank'],
    ['ada@example.com', 'an e-mail address'],
    ['x'.repeat(65), 'too long'],
    ['a\nb', 'of two lines'],
    ['person 0a000000-0000-4000-8000-000000000001', 'how the console records a person'],
  ])('exit 2 when the name %j is %s', async (name) => {
    const { rows } = await app.database.admin.query<{ count: string }>('SELECT count(*) FROM workspace');
    const words = ['workspaces', 'create', 'never', '--name', 'Never'];

    expectFault(await runAdmin([...words, `--as=${name}`], environment()), 2, /1 to 64 printable characters without @/);
    if (name !== '') expectFault(await runAdmin(words, { ...environment(), OPERATOR_NAME: name }), 2, /OPERATOR_NAME/);

    expect((await app.database.admin.query('SELECT count(*) FROM workspace')).rows).toEqual(rows);
  });

  it('may have a name of 64 characters, and need none to read', async () => {
    await run('tag-keys', 'create', '--workspace', slug, '--key', 'k', '--as', '🗝'.repeat(64));
    const unnamed = { ...environment(), OPERATOR_NAME: '', SUDO_USER: 'ada@example.com' };
    expect(await runAdmin(['workspaces', 'list', '--json'], unnamed)).toMatchObject({ exitCode: 0 });
    expect(await runAdmin(['status', '--json'], unnamed)).toMatchObject({ exitCode: 0 });
    for (const words of [
      ['workspaces', 'create', 'never', '--name', 'N'],
      ['status', '--deep'],
      ['console', 'link'],
    ]) {
      expectFault(await runAdmin(words, unnamed), 2, /--as or OPERATOR_NAME/);
    }
  });
});
