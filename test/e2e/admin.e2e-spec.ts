import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { WORKSPACE_SLUG } from '#libs/auth/operators';
import { parseSlug } from '../../apps/admin/src/options';
import { runAdmin } from '../support/admin-command';
import { freePort } from '../support/free-port';
import { type Row, documentOf, expectFault } from '../support/finished-command';
import { type FinishedCommand, RunningCommand } from '../support/running-command';
import { type TestDatabase, createTestDatabase } from '../support/test-database';

const ROOT = join(__dirname, '../..');
const admin = (environment: Record<string, string>, ...words: string[]): Promise<FinishedCommand> =>
  runAdmin(words, environment);

const keysIn = (directory: string) => ({
  SIGNING_KEYS_DIR: directory,
  SECRET_PEPPER_FILE: join(directory, 'pepper'),
  AUDIT_KEY_FILE: join(directory, 'audit'),
});

describe('admin', () => {
  let database: TestDatabase;
  let directory: string;
  let environment: Record<string, string>;
  const run = (...words: string[]) => admin(environment, ...words);
  const file = (name: string, ...lines: (string | object)[]): string => {
    const path = join(directory, name);
    writeFileSync(path, lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
    return path;
  };

  beforeAll(async () => {
    database = await createTestDatabase({ migrated: false });
    directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    environment = {
      DATABASE_URL: database.databaseUrl,
      MIGRATION_DATABASE_URL: database.migrationDatabaseUrl,
      LOCAL_DIR: join(directory, 'local'),
    };
  });
  afterAll(async () => {
    await RunningCommand.killAll();
    await database.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  describe('migrate and status', () => {
    it('status reports pending migrations with the remedy, and migrate applies them once', async () => {
      expectFault(await run('workspaces', 'list', '--json'), 1, /run: admin migrate/);
      const before = await run('status', '--json');
      expect(before.exitCode).toBe(1);
      expect(before.stderr).toMatch(/^error: \d+ migrations are pending; run: admin migrate\n$/);
      const pending = (JSON.parse(before.stdout) as { migrations: { pending: string[] } }).migrations.pending;
      expect(pending.length).toBeGreaterThan(2);

      expect(documentOf(await run('migrate', '--json'))).toEqual({ applied: pending });
      expect(documentOf(await run('migrate', '--json'))).toEqual({ applied: [] });
      expect(documentOf(await run('status', '--json'))).toMatchObject({
        ok: true,
        server: expect.stringMatching(/^\d+/) as string,
        roles: {
          owner: new URL(database.migrationDatabaseUrl).username,
          runtime: new URL(database.databaseUrl).username,
        },
        migrations: { applied: pending, pending: [] },
        workspaces: 0,
        problems: [],
      });
    });

    it('migrate reports on stderr that it waits for another migration, then continues', async () => {
      // Holds the lock like another deployment would.
      const other = new Client({ connectionString: database.migrationDatabaseUrl });
      await other.connect();
      try {
        await other.query('SELECT pg_advisory_lock($1)', [7_204_716_105_331]);
        const command = new RunningCommand('apps/admin/run.mjs', ['migrate', '--json'], environment);
        while (command.stderr === '') await delay(20);
        // Time for some more attempts.
        await delay(500);
        await other.query('SELECT pg_advisory_unlock_all()');
        const finished = await command.finished;
        expect(finished.stderr).toBe('Waiting for another migration of this database.\n');
        expect([finished.exitCode, JSON.parse(finished.stdout)]).toEqual([0, { applied: [] }]);
      } finally {
        await other.end();
      }
    });

    it('reports an unreachable database in one line, with details only on request', async () => {
      const nowhere = `postgres://nobody:hunter2@127.0.0.1:${await freePort()}/none`;
      const down = { ...environment, DATABASE_URL: nowhere, MIGRATION_DATABASE_URL: nowhere };
      const commands = [['migrate'], ['status'], ['workspaces', 'list']];
      for (const finished of await Promise.all(commands.map((words) => admin(down, ...words)))) {
        expectFault(finished, 1, /MIGRATION_DATABASE_URL cannot be used: nothing listens on 127\.0\.0\.1/);
        expect(finished.stderr).not.toContain('hunter2');
      }
      expect((await admin({ ...down, LOG_LEVEL: 'debug' }, 'status')).stderr).toMatch(/\n +at /);
    });

    it('refuses contradicting settings', async () => {
      const { MIGRATION_DATABASE_URL: _, ...alone } = environment;
      const production = { NODE_ENV: 'production', LOCAL_DIR: directory };
      const [lonely, malformed, unsafe] = await Promise.all([
        admin(alone, 'workspaces', 'list'),
        admin({ ...environment, PORT: 'many' }, 'status'),
        admin(production, 'status'),
      ]);
      expectFault(lonely, 2, /MIGRATION_DATABASE_URL is required/);
      expectFault(malformed, 2, /settings are not valid: PORT /);
      expectFault(unsafe, 2, /SIGNING_KEYS_DIR is required when NODE_ENV=production/);
    });
  });

  describe('workspaces', () => {
    it('creates and lists workspaces, and refuses a slug that exists', async () => {
      const made = documentOf(await run('workspaces', 'create', 'acme', '--name', 'Acme AG', '--json'));
      expect(made).toMatchObject({ slug: 'acme', name: 'Acme AG' });
      expect(Object.keys(made).sort()).toEqual(['createdAt', 'id', 'name', 'slug']);
      expectFault(await run('workspaces', 'create', 'acme', '--name', 'Other', '--json'), 1, /slug "acme" is taken/);
      expect(documentOf(await run('workspaces', 'list', '--json'))).toEqual({ items: [made] });
      expect((await run('workspaces', 'list')).stdout).toMatch(/│ acme +│ Acme AG +│/);
    });
  });

  it('validates slugs by the rule of the API', () => {
    for (const slug of ['a', 'a-b', '9', 'a'.repeat(63), '', '-a', 'a-', 'A', 'a_b', 'a'.repeat(64), 'a\n']) {
      const parse = (): string => parseSlug(slug);
      if (WORKSPACE_SLUG.test(slug)) expect(parse()).toBe(slug);
      else expect(parse).toThrow();
    }
  });

  describe('applications', () => {
    it('shows the secret only when the application is created', async () => {
      const made = documentOf(
        await run(
          ...'applications create --workspace acme --name CI --scope all:read --scope all:write --json'.split(' '),
        ),
      );
      expect(made).toMatchObject({ name: 'CI', scopes: ['all:read', 'all:write'], disabled: false });
      expect(made['client_id']).toMatch(/^ci_/);
      const { client_secret: secret, ...rest } = made;
      expect(secret).toMatch(/^cs_/);
      const id = String(made['client_id']);
      const list = await run('applications', 'list', '--workspace', 'acme', '--json');
      expect(documentOf(list)).toEqual({ items: [rest] });
      const disabled = await run('applications', 'disable', id, '--json');
      expect(documentOf(disabled)).toEqual({ ...rest, disabled: true });
      expect(documentOf(await run('applications', 'enable', id, '--json'))).toEqual(rest);
      const shown = await run('applications', 'show', id, '--json');
      expect(documentOf(shown)).toEqual(rest);
      const table = await run('applications', 'list', '--workspace', 'acme');
      for (const { stdout } of [list, disabled, shown, table])
        expect(stdout).not.toMatch(/[sS]ecret["_]|[dD]igest|cs_/);
    });

    it('exits 1 for an unknown client id or workspace', async () => {
      const verbs = ['show', 'enable', 'disable'];
      const [list, create, ...found] = await Promise.all([
        run('applications', 'list', '--workspace', 'none', '--json'),
        run(...'applications create --workspace none --name CI --scope all:read --json'.split(' ')),
        ...verbs.map((verb) => run('applications', verb, 'ci_none', '--json')),
      ]);
      for (const finished of [list, create]) expectFault(finished, 1, /no workspace "none"/);
      for (const finished of found) expectFault(finished, 1, /no application with the client id "ci_none"/);
    });
  });

  describe('tag-keys', () => {
    it('creates, lists and deletes tag keys, and demands --yes for a deletion without a terminal', async () => {
      const words = ['--workspace', 'acme', '--json'];
      const env = documentOf(await run('tag-keys', 'create', '--key', 'env', '--value', 'production', ...words));
      expect(env).toMatchObject({ key: 'env', value: 'production', platform: false });
      expectFault(await run('tag-keys', 'create', '--key', 'env', ...words), 1, /already has the tag key "env"/);
      const own = documentOf(await run('tag-keys', 'create', '--key', 'aws:stack', '--platform', ...words));
      expect(documentOf(await run('tag-keys', 'list', ...words))).toEqual({ items: [own, env] });

      expectFault(await run('tag-keys', 'delete', '--key', 'env', ...words), 2, /--yes/);
      expect(documentOf(await run('tag-keys', 'delete', '--key', 'env', '--yes', ...words))).toMatchObject({
        key: 'env',
      });
      expectFault(await run('tag-keys', 'delete', '--key', 'env', '--yes', ...words), 1, /no tag key "env"/);
      expect(documentOf(await run('tag-keys', 'list', ...words))).toEqual({ items: [own] });
    });
  });

  describe('import', () => {
    const ada = { categoryKey: 'EMPLOYEE', externalId: 'hr-1', name: 'Ada Okafor' };
    const printer = { categoryKey: 'CUSTOM', externalId: 'c-1', name: 'Printer', tags: [{ key: 'room', value: '7' }] };
    const words = ['import', '--workspace', 'acme', '--source', 'hr', '--json'];

    it('reports bad lines by number, imports the others and exits 1', async () => {
      const errors = join(directory, 'errors.ndjson');
      const path = file('some.ndjson', ada, 'nonsense', printer);
      const finished = await run(...words, path, '--errors', errors);
      expect(finished.exitCode).toBe(1);
      expect(finished.stderr).toBe('error: Bad lines: 2 of 3.\n');
      const report = JSON.parse(finished.stdout) as Row & { errors: Row[] };
      expect(Object.keys(report)).toEqual([
        'read',
        'created',
        'updated',
        'unchanged',
        'hidden',
        'failed',
        'skipped',
        'warned',
        'rekeyed',
        'hiddenWhy',
        'newSource',
        'errors',
        'warnings',
        'dryRun',
      ]);
      expect(report).toMatchObject({ read: 3, created: 1, failed: 2, dryRun: false });
      expect(report.errors.map(({ line }) => line)).toEqual([2, 3]);
      const lines = readFileSync(errors, 'utf8').trim().split('\n');
      expect(lines.map((line) => JSON.parse(line) as Row)).toEqual([
        { ...report.errors[0], text: 'nonsense' },
        { ...report.errors[1], text: JSON.stringify(printer) },
      ]);
    });

    it('follows its options: tag keys, several files, missing assets, dry run', async () => {
      const second = file('second.ndjson', printer);
      const first = file('first.ndjson', ada);
      const making = [...words, '--create-tag-keys', 'platform'];
      expect(documentOf(await run(...making, '--dry-run', first, second))).toMatchObject({ created: 1, dryRun: true });
      expect(documentOf(await run(...making, first, second))).toMatchObject({ read: 2, created: 1, unchanged: 1 });
      expect(documentOf(await run(...words, first, '--missing', 'hide'))).toMatchObject({ hidden: 1, failed: 0 });
      const piped = new RunningCommand('apps/admin/run.mjs', [...words, '-'], environment, `${JSON.stringify(ada)}\n`);
      expect(documentOf(await piped.finished)).toMatchObject({ read: 1, unchanged: 1 });
    });

    it('says in its table and in its fault why nothing was hidden', async () => {
      const into = ['import', '--workspace', 'acme', '--source', 'crm'];
      documentOf(await run(...into, file('all.ndjson', ada), '--json'));

      const finished = await run(...into, file('empty.ndjson'), '--missing', 'hide');

      const why = 'Nothing was hidden. The input named no asset';
      expect(finished.exitCode).toBe(1);
      expect(finished.stdout).toContain(why);
      expect(finished.stderr).toContain(why);
    });

    it('says in its table how many warnings it does not show', async () => {
      const description = 'd'.repeat(501);
      const described = Array.from({ length: 23 }, (_, at) => ({ ...ada, externalId: `warned-${at}`, description }));

      const { stdout } = await run(
        ...'import --workspace acme --source warned'.split(' '),
        file('d.ndjson', ...described),
      );

      expect(stdout).toMatch(/line 20: warning: .*\n… and 3 more warnings\n$/);
    });

    it('exits 1 for a missing file, an unknown workspace, an unwritable path and a directory', async () => {
      const one = file('one.ndjson', ada);
      // Each import has its own source, because a source allows one import at a time.
      const [noFile, noPlace, aDirectory, noWorkspace] = await Promise.all([
        run(...'import --workspace acme --source a'.split(' '), join(directory, 'none.ndjson')),
        run(
          ...'import --workspace acme --source b'.split(' '),
          one,
          '--errors',
          join(directory, 'nowhere', 'e.ndjson'),
        ),
        run(...'import --workspace acme --source c'.split(' '), directory),
        run(...'import --workspace none --source d'.split(' '), one),
      ]);
      expectFault(noFile, 1, /none\.ndjson does not exist/);
      expectFault(noPlace, 1, /e\.ndjson: there is no directory .*nowhere\./);
      expectFault(aDirectory, 1, new RegExp(`${directory} is a directory\\.`));
      expectFault(noWorkspace, 1, /no workspace "none"/);
    });

    it('exits 1 when standard input is a directory', () => {
      const line = `exec "${process.execPath}" apps/admin/run.mjs ${words.join(' ')} - < "${directory}"`;

      const { status, stdout, stderr } = spawnSync(line, {
        cwd: ROOT,
        env: environment,
        encoding: 'utf8',
        shell: true,
      });

      expectFault({ exitCode: status, stdout, stderr }, 1, /Standard input is a directory\./);
    });
  });

  describe('demo and keys', () => {
    const past = async (): Promise<{ days: number; former: number }> => {
      const { rows } = await database.admin.query<{ days: number; former: number }>(
        `SELECT (SELECT count(*) FROM day_count WHERE workspace_id = demo.id AND assets <> '[]')::int AS days,
                (SELECT count(*) FROM asset_version WHERE workspace_id = demo.id)::int AS former
           FROM workspace AS demo WHERE slug = 'demo'`,
      );
      return rows[0] as { days: number; former: number };
    };

    it('loads the demo once and changes nothing on the next run', async () => {
      documentOf(await run('workspaces', 'create', 'demo', '--name', 'Demo', '--json'));
      // As the worker does after a midnight.
      await database.admin.query(
        `INSERT INTO day_count SELECT id, CURRENT_DATE - 1, '[]', '[]' FROM workspace WHERE slug = 'demo'`,
      );
      const first = documentOf(await run('demo', 'load', '--json'));
      const loaded = { workspace: 'demo', size: 'S', created: first['read'], failed: 0, warned: 0, skipped: 1 };
      expect(first).toMatchObject(loaded);
      expect(first['read']).toBeGreaterThan(470);
      expect(documentOf(await run('demo', 'load', '--size', 'S', '--json'))).toMatchObject({
        unchanged: first['read'],
      });
      expect((await past()).days).toBe(90);
      expect((await past()).former).toBeGreaterThan(300);
      const disks = await database.admin.query(
        `SELECT DISTINCT former.posture / 9 % 3 AS was, asset.posture / 9 % 3 AS is
           FROM asset_version AS former JOIN asset USING (workspace_id, id) WHERE former.posture IS NOT NULL ORDER BY 2`,
      );
      // Unknown, failing and passing: what is unknown now was never known.
      expect(disks.rows).toEqual([0, 1, 1].map((was, is) => ({ was, is })));
      const younger = await database.admin.query(
        `SELECT DISTINCT asset.created_at FROM asset JOIN workspace ON workspace_id = workspace.id
          WHERE slug = 'demo' AND asset.created_at > history_begins_at`,
      );
      expect(younger.rows).toEqual([]);
      // The first page shows each category. The first eleven types are cloud types.
      const { rowCount } = await database.admin.query(
        `SELECT DISTINCT greatest(sub_key, 11) FROM (
           SELECT sub_key FROM asset WHERE visibility = 0 AND workspace_id = (SELECT id FROM workspace WHERE slug = 'demo')
            ORDER BY id LIMIT 25) AS page`,
      );
      expect(rowCount).toBe(5);
    });

    it('makes the past of the demo on the next run after one that ended too early', async () => {
      const ofTheDemo = `workspace_id = (SELECT id FROM workspace WHERE slug = 'demo')`;
      const moveBegin = (to: string): string => `UPDATE workspace SET history_begins_at = ${to} WHERE slug = 'demo'`;
      const created = `date_trunc('milliseconds', created_at)`;
      const formerAfter = async (change: string): Promise<number> => {
        await database.admin.query(change);
        await run('demo', 'load');
        return (await past()).former;
      };
      await database.admin.query(
        `${moveBegin(created)};
         DELETE FROM asset_version WHERE ${ofTheDemo}`,
      );
      const setOrigin = (origin: number): string =>
        `UPDATE change_set SET origin = ${origin} WHERE ${ofTheDemo} AND sequence = 1`;

      // An operator changed assets, or retention moved the beginning.
      expect(await formerAfter(setOrigin(1))).toBe(0);
      await database.admin.query(setOrigin(2));
      expect(await formerAfter(moveBegin('clock_timestamp()'))).toBe(0);
      expect(await formerAfter(moveBegin(created))).toBeGreaterThan(300);
    });

    it('refuses the demo in production, in a workspace in use, and in one that does not exist', async () => {
      const production = await admin({ ...environment, NODE_ENV: 'production', ...keysIn(directory) }, 'demo', 'load');
      expectFault(production, 2, /--yes-into-production/);
      expectFault(await run('demo', 'load', '--workspace', 'dmeo'), 1, /no workspace "dmeo"/);
      await run('workspaces', 'create', 'in-use', '--name', 'In use');
      const inUse = ['--workspace', 'in-use'];
      await run('tag-keys', 'create', ...inUse, '--key', 'team');
      expectFault(await run('demo', 'load', ...inUse), 1, /holds more than the demo/);
      await run('workspaces', 'create', 'tried', '--name', 'Tried');
      await run('import', '--workspace', 'tried', '--source', 'hr', file('unread.ndjson', 'no record'));
      expectFault(await run('demo', 'load', '--workspace', 'tried'), 1, /holds more than the demo/);
      await run('tag-keys', 'delete', ...inUse, '--key', 'team', '--yes');
      const badge = file('badge.ndjson', { categoryKey: 'CUSTOM', externalId: '1', name: 'B', visibility: 'HIDDEN' });
      documentOf(await run('import', ...inUse, '--source', 'zz', badge, '--json'));
      expectFault(await run('demo', 'load', ...inUse), 1, /holds more than the demo/);
      const { rows } = await database.admin.query<{ assets: string; workspaces: string }>(
        `SELECT (SELECT count(*) FROM asset WHERE source = 'demo' AND workspace_id = (SELECT id FROM workspace WHERE slug = 'in-use')) AS assets,
                (SELECT count(*) FROM workspace WHERE slug = 'dmeo') AS workspaces`,
      );
      expect(rows).toEqual([{ assets: '0', workspaces: '0' }]);
    });

    it('creates keys where the settings say, without a database, and lists no secret of them', async () => {
      const keys = join(directory, 'keys');
      const production = {
        NODE_ENV: 'production',
        SIGNING_KEYS_DIR: join(keys, 'signing'),
        SECRET_PEPPER_FILE: join(keys, 'pepper'),
        AUDIT_KEY_FILE: join(keys, 'audit'),
      };
      expect(documentOf(await admin(production, 'keys', 'list', '--json'))).toEqual({ items: [] });
      const needsPepper = await admin({ ...environment, ...production }, 'workspaces', 'list');
      expectFault(needsPepper, 1, /SECRET_PEPPER_FILE names .* which does not exist; run: admin keys init/);

      const { made } = documentOf(await admin(production, 'keys', 'init', '--json'));
      const { SIGNING_KEYS_DIR, SECRET_PEPPER_FILE, AUDIT_KEY_FILE } = production;
      expect(made).toEqual([SIGNING_KEYS_DIR, SECRET_PEPPER_FILE, AUDIT_KEY_FILE]);
      expect(documentOf(await admin(production, 'keys', 'init', '--json'))).toEqual({ made: [] });
      for (const path of made as string[]) expect(statSync(path).mode & 0o077).toBe(0);

      const listed = await admin(production, 'keys', 'list', '--json');
      const { items } = documentOf(listed) as { items: Row[] };
      expect(items.map(({ use, current }) => [use, current])).toEqual([
        ['signing', true],
        ['cursor', true],
        ['checkpoint', true],
      ]);
      const [signing, cursor, checkpoint] = items.map(({ kid }) => String(kid));
      const files = [`${signing}.pem`, `${cursor}.cursor.key`, `${checkpoint}.checkpoint.pem`];
      expect(readdirSync(SIGNING_KEYS_DIR).sort()).toEqual([...files].sort());
      const secret = readFileSync(join(SIGNING_KEYS_DIR, `${cursor}.cursor.key`), 'utf8').trim();
      expect(listed.stdout).not.toContain(secret);
    });
  });
});
