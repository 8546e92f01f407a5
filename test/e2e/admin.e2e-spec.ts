import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WORKSPACE_SLUG } from '#libs/auth';
import { findPostmaster } from '../../libs/platform/src/embedded-postgres/postmaster-file';
import { freePort } from '../support/api-process';
import { clear, makeDirectory } from '../support/embedded-postgres-directory';
import { type TestDatabase, createTestDatabase } from '../support/test-database';
import { parseSlug } from '../../apps/admin/src/options';

jest.setTimeout(30_000);

const ROOT = join(__dirname, '../..');
const DIGEST = /[0-9a-f]{64}|digest/i;

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type Environment = Readonly<Record<string, string>>;

/** The command line as `npm run --silent admin -- …` starts it, without a terminal. */
async function admin(environment: Environment, words: readonly string[], input = ''): Promise<Outcome> {
  const child = spawn(process.execPath, [join(ROOT, 'apps/admin/run.mjs'), ...words], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], ...environment },
    timeout: 25_000,
    killSignal: 'SIGKILL',
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

describe('The operators’ command line', () => {
  let database: TestDatabase;
  let directory: string;
  let environment: Environment;

  const run = (...words: string[]): Promise<Outcome> => admin(environment, words);
  /** The one document on stdout; anything beside it would not parse. */
  const document = async (...words: string[]): Promise<Record<string, unknown>> => {
    const { code, stdout, stderr } = await run(...words, '--json');
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  const items = async (...words: string[]): Promise<Record<string, unknown>[]> => {
    const listed = await document(...words);
    expect(Object.keys(listed)).toEqual(['items']);
    return listed['items'] as Record<string, unknown>[];
  };
  const write = (name: string, lines: readonly string[]): string => {
    const path = join(directory, name);
    writeFileSync(path, `${lines.join('\n')}\n`);
    return path;
  };
  const asset = (externalId: string, changes: object = {}): string =>
    JSON.stringify({ categoryKey: 'CUSTOM', externalId, name: externalId, ...changes });

  beforeAll(async () => {
    database = await createTestDatabase();
    directory = makeDirectory();
    environment = {
      DATABASE_URL: database.databaseUrl,
      MIGRATION_DATABASE_URL: database.migrationDatabaseUrl,
      LOCAL_DIR: join(directory, 'local'),
    };
    await document('workspaces', 'create', 'acme', '--name', 'Acme');
  });
  afterAll(async () => {
    await database.drop();
    await clear(directory);
  });

  describe('workspaces', () => {
    it('are made once by slug and listed', async () => {
      const made = await document('workspaces', 'create', 'beta-1', '--name', 'Beta, one');
      expect(Object.keys(made)).toEqual(['id', 'slug', 'name', 'createdAt']);
      expect(await items('workspaces', 'list')).toContainEqual(made);
      const again = await run('workspaces', 'create', 'beta-1', '--name', 'Other', '--json');
      expect(again).toEqual({ code: 1, stdout: '', stderr: 'error: The slug "beta-1" is taken.\n' });
    });

    it('have slugs by one rule, here and in the domain', () => {
      for (const slug of ['a', 'a-b', '9', 'a'.repeat(63), '', '-a', 'a-', 'A', 'a_b', 'a'.repeat(64), 'a\n']) {
        const accepts = (): string => parseSlug(slug);
        if (WORKSPACE_SLUG.test(slug)) expect(accepts()).toBe(slug);
        else expect(accepts).toThrow();
      }
    });
  });

  describe('applications', () => {
    it('show their secret when made and never again', async () => {
      const made = await document(
        ...['applications', 'create', '--workspace', 'acme', '--name', 'Reader'],
        ...['--scope', 'inventory:read', '--scope', 'computers:read'],
      );
      expect(made).toMatchObject({ name: 'Reader', scopes: ['inventory:read', 'computers:read'], disabled: false });
      const { client_secret: secret, ...rest } = made;
      expect(secret).toMatch(/^cs_/);
      expect(JSON.stringify(rest)).not.toMatch(DIGEST);
      const clientId = String(made['client_id']);
      expect(await document('applications', 'show', clientId)).toEqual(rest);
      expect(await items('applications', 'list', '--workspace', 'acme')).toContainEqual(rest);
      for (const words of [
        ['show', clientId],
        ['list', '--workspace', 'acme'],
      ]) {
        const { stdout } = await run('applications', ...words);
        expect(stdout).toContain(clientId);
        expect(stdout).not.toContain(secret);
        expect(stdout).not.toMatch(DIGEST);
      }
    });

    it('are kept out and let in again, the former only when somebody says yes', async () => {
      const { client_id: made } = await document(
        ...['applications', 'create', '--workspace', 'acme', '--name', 'Writer', '--scope', 'all:write'],
      );
      const clientId = String(made);
      expect((await run('applications', 'disable', clientId)).code).toBe(2);
      expect(await document('applications', 'show', clientId)).toMatchObject({ disabled: false });
      expect(await document('applications', 'disable', clientId, '--yes')).toMatchObject({ disabled: true });
      expect(await document('applications', 'enable', clientId)).toMatchObject({ disabled: false });
    });
  });

  describe('tag keys', () => {
    const create = ['tag-keys', 'create', '--workspace', 'acme', '--key'];
    const remove = ['tag-keys', 'delete', '--workspace', 'acme', '--key'];

    it('are made once, listed, and removed only when somebody says yes', async () => {
      const made = await document(...create, 'env', '--value', 'production');
      expect(made).toMatchObject({ key: 'env', value: 'production', platform: false });
      expect(await document(...create, 'aws:stack', '--platform')).toMatchObject({ value: null, platform: true });
      expect((await run(...create, 'env')).code).toBe(1);
      expect(await items('tag-keys', 'list', '--workspace', 'acme')).toContainEqual(made);

      expect((await run(...remove, 'env', '--json')).code).toBe(2);
      expect(await document(...remove, 'env', '--yes')).toEqual({ key: 'env', assets: 0 });
      expect((await run(...remove, 'env', '--yes')).code).toBe(1);
      expect(await items('tag-keys', 'list', '--workspace', 'acme')).not.toContainEqual(made);
    });
  });

  describe('import', () => {
    const words = (file: string, source = 'hr'): string[] => [
      'import',
      '--workspace',
      'acme',
      '--source',
      source,
      file,
    ];

    it('reports what came of the lines, and writes nothing when it only tries', async () => {
      const file = write('good.ndjson', [asset('c-1'), asset('c-2')]);
      const none = { unchanged: 0, updated: 0, hidden: 0, failed: 0, errors: [] };
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const tried = await document(...words(file), '--dry-run');
        expect(tried).toEqual({ ...none, read: 2, created: 2, dryRun: true });
      }
      expect(await document(...words(file))).toEqual({ ...none, read: 2, created: 2, dryRun: false });
      expect(await document(...words(file))).toEqual({ ...none, read: 2, created: 0, unchanged: 2, dryRun: false });
    });

    it('exits 1 for bad lines, with their numbers on stdout and in the file, and takes the others', async () => {
      const file = write('bad.ndjson', [asset('b-1'), '{', asset('b-2', { categoryKey: 'NONE' }), asset('b-3')]);
      const errorFile = join(directory, 'errors.ndjson');
      const { code, stdout } = await run(...words(file, 'bad'), '--json', '--errors', errorFile);
      expect(code).toBe(1);
      const report = JSON.parse(stdout) as { errors: { line: number; reason: string }[] };
      expect(report).toMatchObject({ read: 4, created: 2, failed: 2 });
      expect(report.errors.map(({ line }) => line)).toEqual([2, 3]);
      const kept = readFileSync(errorFile, 'utf8').trim().split('\n');
      expect(kept.map((line) => JSON.parse(line) as unknown)).toEqual(report.errors);
    });

    it('reads standard input', async () => {
      const { code, stdout } = await admin(environment, [...words('-', 'pipe'), '--json'], `${asset('p-1')}\n`);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ read: 1, created: 1 });
    });

    it('hides what is missing only when somebody says yes, and says without what it would hide', async () => {
      await document(...words(write('two.ndjson', [asset('m-1'), asset('m-2')]), 'missing'));
      const fewer = words(write('one.ndjson', [asset('m-1')]), 'missing');
      expect((await run(...fewer, '--missing', 'hide')).code).toBe(2);
      expect(await document(...fewer, '--missing', 'hide', '--dry-run')).toMatchObject({ hidden: 1, dryRun: true });
      expect(await document(...fewer, '--missing', 'hide', '--yes')).toMatchObject({ hidden: 1, unchanged: 1 });
    });

    it('makes tag keys that do not exist only when asked to', async () => {
      const file = write('tags.ndjson', [asset('t-1', { tags: [{ key: 'made:here', value: 'x' }] })]);
      expect((await run(...words(file, 'tags'))).code).toBe(1);
      expect(await document(...words(file, 'tags'), '--create-tag-keys', 'platform')).toMatchObject({ created: 1 });
      expect(await items('tag-keys', 'list', '--workspace', 'acme')).toContainEqual(
        expect.objectContaining({ key: 'made:here', platform: true }),
      );
    });

    it('exits 1 for a file that is not there', async () => {
      const { code, stderr } = await run(...words(join(directory, 'nowhere.csv')));
      expect([code, stderr]).toEqual([1, `error: ${join(directory, 'nowhere.csv')} does not exist.\n`]);
    });
  });

  describe('demo load', () => {
    it('makes and fills the workspace, and changes nothing the second time', async () => {
      const first = await document('demo', 'load', '--size', 'S');
      expect(first).toMatchObject({ failed: 0, errors: [] });
      expect(first['created']).toBeGreaterThan(400);
      const again = await document('demo', 'load');
      expect(again).toMatchObject({ created: 0, updated: 0, unchanged: first['created'] });
      const slugs = (await items('workspaces', 'list')).map(({ slug }) => slug);
      expect(slugs).toContain('demo');
    });
  });

  describe('keys', () => {
    it('are made where the settings say, readable by nobody else, once; the list tells nothing of them', async () => {
      const keys = join(directory, 'keys');
      mkdirSync(keys);
      const places = {
        SIGNING_KEYS_DIR: join(keys, 'signing'),
        CURSOR_KEYS_FILE: join(keys, 'cursor.json'),
        SECRET_PEPPER_FILE: join(keys, 'pepper'),
      };
      // No database is asked for: none of this needs one.
      const only = { NODE_ENV: 'production', LOCAL_DIR: join(directory, 'unused'), ...places };
      const made = await admin(only, ['keys', 'init', '--json']);
      expect(made.code).toBe(0);
      expect(JSON.parse(made.stdout)).toEqual({ made: Object.values(places) });
      expect(statSync(places.SECRET_PEPPER_FILE).mode & 0o777).toBe(0o600);
      expect(JSON.parse((await admin(only, ['keys', 'init', '--json'])).stdout)).toEqual({ made: [] });

      const { stdout } = await admin(only, ['keys', 'list', '--json']);
      const listed = (JSON.parse(stdout) as { items: Record<string, unknown>[] }).items;
      expect(listed.map(({ use, current }) => [use, current])).toEqual([
        ['signing', true],
        ['cursor', true],
      ]);
      for (const one of listed) expect(Object.keys(one).sort()).toEqual(['createdAt', 'current', 'kid', 'use']);
    });
  });

  describe('the database', () => {
    it('is reported and brought up to date', async () => {
      const empty = await createTestDatabase({ migrated: false });
      try {
        const urls = { DATABASE_URL: empty.databaseUrl, MIGRATION_DATABASE_URL: empty.migrationDatabaseUrl };
        const own = { ...environment, ...urls };
        const before = await admin(own, ['status', '--json']);
        expect(before.code).toBe(1);
        expect(JSON.parse(before.stdout)).toMatchObject({ ok: false, migrations: { applied: [] }, workspaces: null });
        const early = await admin(own, ['workspaces', 'list', '--json']);
        expect(early).toEqual({
          code: 1,
          stdout: '',
          stderr: 'error: The database is not up to date; run: admin migrate\n',
        });

        const { applied } = JSON.parse((await admin(own, ['migrate', '--json'])).stdout) as { applied: string[] };
        expect(applied.length).toBeGreaterThan(0);
        expect(JSON.parse((await admin(own, ['migrate', '--json'])).stdout)).toEqual({ applied: [] });
        const after = await admin(own, ['status', '--json']);
        expect(after.code).toBe(0);
        expect(JSON.parse(after.stdout)).toMatchObject({
          ok: true,
          migrations: { applied, pending: [] },
          workspaces: 0,
          problems: [],
        });
      } finally {
        await empty.drop();
      }
    });

    it('that is down is told in one line, with exit code 1', async () => {
      const url = `postgres://owner:hunter2@127.0.0.1:${await freePort()}/none`;
      const down = { ...environment, DATABASE_URL: url, MIGRATION_DATABASE_URL: url };
      for (const words of [['workspaces', 'list', '--json'], ['status'], ['migrate']]) {
        const { code, stdout, stderr } = await admin(down, words);
        expect([code, stdout]).toEqual([1, '']);
        expect(stderr).toMatch(/^error: .*nothing listens on 127\.0\.0\.1:\d+\.\n$/);
        expect(stderr).not.toContain('hunter2');
      }
    });

    it('needs the address of its owner beside that of the API', async () => {
      const { code, stderr } = await admin({ ...environment, MIGRATION_DATABASE_URL: '' }, ['workspaces', 'list']);
      expect(code).toBe(2);
      expect(stderr).toMatch(/MIGRATION_DATABASE_URL/);
    });

    it('is the embedded one where none is named: made, brought up to date, kept, and stopped after each command', async () => {
      const localDir = join(directory, 'embedded');
      const embedded = { LOCAL_DIR: localDir };
      const made = await admin(embedded, ['workspaces', 'create', 'kept', '--name', 'Kept', '--json']);
      expect([made.code, made.stderr]).toEqual([0, '']);
      expect(findPostmaster(join(localDir, 'postgres'))).toBeNull();
      const listed = await admin(embedded, ['workspaces', 'list', '--json']);
      expect(JSON.parse(listed.stdout)).toEqual({ items: [JSON.parse(made.stdout)] });
      expect(findPostmaster(join(localDir, 'postgres'))).toBeNull();
      await clear(localDir);
    });
  });

  describe('Ctrl-C', () => {
    it('ends a command that waits for its input, gives the embedded server up, and exits 130', async () => {
      const localDir = join(directory, 'interrupted');
      const embedded = { LOCAL_DIR: localDir };
      expect((await admin(embedded, ['workspaces', 'create', 'acme', '--name', 'Acme'])).code).toBe(0);
      const words = ['import', '--workspace', 'acme', '--source', 'hr', '-'];
      const child = spawn(process.execPath, [join(ROOT, 'apps/admin/run.mjs'), ...words], {
        cwd: ROOT,
        env: { PATH: process.env['PATH'], ...embedded },
        stdio: ['pipe', 'ignore', 'ignore'],
        timeout: 25_000,
        killSignal: 'SIGKILL',
      });
      const ended = once(child, 'exit');
      child.stdin.write(`${asset('i-1')}\n`);
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      child.kill('SIGINT');
      expect(await ended).toEqual([130, null]);
      expect(findPostmaster(join(localDir, 'postgres'))).toBeNull();
      await clear(localDir);
    });
  });

  describe('usage', () => {
    it.each([
      ['an unknown command', ['bogus']],
      ['no command', []],
      ['an unknown option', ['workspaces', 'list', '--bogus']],
      ['a missing option', ['workspaces', 'create', 'gamma']],
      ['a malformed slug', ['workspaces', 'create', 'Not_A_Slug', '--name', 'x']],
      ['an unknown scope', ['applications', 'create', '--workspace', 'acme', '--name', 'x', '--scope', 'all:admin']],
      ['no scope', ['applications', 'create', '--workspace', 'acme', '--name', 'x']],
      ['an unknown size', ['demo', 'load', '--size', 'XS']],
      ['an unknown way with the missing', ['import', '--workspace', 'acme', '--source', 'x', 'f', '--missing', 'drop']],
      ['no file', ['import', '--workspace', 'acme', '--source', 'x']],
    ])('exits 2 for %s, with nothing on stdout', async (_what, words) => {
      const { code, stdout, stderr } = await run(...words);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).not.toBe('');
    });

    it.each([
      ['an unknown workspace', ['applications', 'list', '--workspace', 'nobody']],
      ['an unknown client', ['applications', 'show', 'ci_nobody']],
      ['an unknown client to keep out', ['applications', 'disable', 'ci_nobody', '--yes']],
      ['an unknown tag key', ['tag-keys', 'delete', '--workspace', 'acme', '--key', 'nothing', '--yes']],
    ])('exits 1 for %s, in one line', async (_what, words) => {
      const { code, stdout, stderr } = await run(...words, '--json');
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/^error: .*\n$/);
    });

    it('has help for every command, at once and without a database', async () => {
      const since = Date.now();
      const { code, stdout } = await admin({}, ['--help']);
      expect([code, Date.now() - since < 3_000]).toEqual([0, true]);
      for (const command of ['migrate', 'status', 'workspaces', 'applications', 'tag-keys', 'import', 'demo', 'keys']) {
        expect(stdout).toContain(`  ${command} `);
      }
      const one = await admin({}, ['applications', 'create', '--help']);
      expect(one.code).toBe(0);
      for (const option of ['--json', '--yes', '--help', '--scope']) expect(one.stdout).toContain(option);
    });
  });
});
