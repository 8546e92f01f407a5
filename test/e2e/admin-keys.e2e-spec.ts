import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAdmin } from '../support/admin-command';
import { type Row, documentOf, expectFault } from '../support/finished-command';
import { RunningCommand } from '../support/running-command';

describe('admin keys', () => {
  let directory: string;
  let environment: Record<string, string>;
  const run = (...words: string[]) => runAdmin(['keys', ...words], environment);
  const runAside = (...words: string[]) =>
    new RunningCommand('apps/admin/run.mjs', ['keys', ...words], environment).finished;
  const list = async () => documentOf(await run('list', '--json'))['items'] as Row[];
  const kidsOf = (items: readonly Row[], use: string) =>
    items.filter((item) => item['use'] === use).map(({ kid }) => kid as string);

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    environment = {
      SIGNING_KEYS_DIR: join(directory, 'signing'),
      CURSOR_KEYS_FILE: join(directory, 'cursor.json'),
      SECRET_PEPPER_FILE: join(directory, 'pepper'),
      AUDIT_KEY_FILE: join(directory, 'audit'),
      NODE_ENV: 'production',
    };
  });
  afterAll(async () => {
    await RunningCommand.killAll();
    rmSync(directory, { recursive: true, force: true });
  });

  it('refuses to rotate or remove before init', async () => {
    expectFault(await run('rotate', 'signing'), 1, /holds no key \(\*\.pem\); run: admin keys init/);
    expectFault(await run('rotate', 'cursor'), 1, /does not exist; run: admin keys init/);
    expectFault(await run('rotate', 'checkpoint'), 1, /holds no key \(\*\.checkpoint\.pem\); run: admin keys init/);
    expectFault(await run('remove', 'none', '--yes'), 1, /no signing, cursor or checkpoint key "none"/);
    documentOf(await run('init', '--json'));
  });

  it('makes keys that every instance loads before one signs with them, and loses none in concurrent runs', async () => {
    const [first] = await list();
    const made = await Promise.all([
      ...[runAside('rotate', 'signing', '--json'), runAside('rotate', 'signing', '--json')],
      ...[runAside('rotate', 'cursor', '--json'), runAside('rotate', 'cursor', '--json')],
      ...[runAside('rotate', 'checkpoint', '--json'), runAside('rotate', 'checkpoint', '--json')],
    ]);
    const rows = made.map(documentOf);
    for (const { createdAt, usedFrom, ...rest } of rows) {
      expect(Object.keys(rest).sort()).toEqual(['kid', 'use']);
      expect(Date.parse(usedFrom as string) - Date.parse(createdAt as string)).toBe(60_000);
      expect(Math.abs(Date.parse(createdAt as string) - Date.now())).toBeLessThan(30_000);
    }

    const items = await list();
    for (const use of ['signing', 'cursor', 'checkpoint']) {
      expect(kidsOf(items, use)).toHaveLength(3);
      expect(kidsOf(items, use)).toEqual(expect.arrayContaining(kidsOf(rows, use)));
      // The first key stays in use, because the others are younger than a minute.
      const current = items.filter((item) => item['use'] === use).map((item) => item['current']);
      expect(current).toEqual([false, false, true]);
    }
    expect(first?.['kid']).toBe(kidsOf(items, 'signing')[2]);

    const { SIGNING_KEYS_DIR = '', CURSOR_KEYS_FILE = '' } = environment;
    const files = readdirSync(SIGNING_KEYS_DIR).filter((name) => name.endsWith('.pem'));
    const expected = [
      ...kidsOf(items, 'signing').map((kid) => `${kid}.pem`),
      ...kidsOf(items, 'checkpoint').map((kid) => `${kid}.checkpoint.pem`),
    ];
    expect(files.sort()).toEqual(expected.sort());
    for (const path of [CURSOR_KEYS_FILE, ...files.map((name) => join(SIGNING_KEYS_DIR, name))]) {
      expect(statSync(path).mode & 0o777).toBe(0o600);
    }
    const { keys } = JSON.parse(readFileSync(CURSOR_KEYS_FILE, 'utf8')) as { keys: Row[] };
    for (const { stdout } of made) for (const { secret } of keys) expect(stdout).not.toContain(secret as string);
  });

  it('removes a key only with confirmation, and never the last one of its kind', async () => {
    const [youngest, younger, first] = kidsOf(await list(), 'signing') as [string, string, string];
    expectFault(await run('remove', first), 2, /--yes/);
    expectFault(await run('remove', '../pepper', '--yes'), 2, /letters, digits, hyphens/);
    expect(documentOf(await run('remove', first, '--yes', '--json'))).toEqual({
      use: 'signing',
      kid: first,
      removed: true,
    });
    // None is a minute old, so the key that most instances know is used at once.
    expect((await list()).find(({ current }) => current)?.['kid']).toBe(younger);
    documentOf(await run('remove', younger, '--yes', '--json'));
    expectFault(await run('remove', younger, '--yes'), 1, /no signing, cursor or checkpoint key/);
    expectFault(
      await run('remove', youngest, '--yes'),
      1,
      /is the last signing key that can be used; make another first: admin keys rotate signing/,
    );

    const [newest, ...others] = kidsOf(await list(), 'cursor') as [string, ...string[]];
    for (const kid of others) {
      expect(documentOf(await run('remove', kid, '--yes', '--json'))).toEqual({ use: 'cursor', kid, removed: true });
    }
    expectFault(await run('remove', newest, '--yes'), 1, /is the last cursor key/);
    const [last, ...older] = kidsOf(await list(), 'checkpoint') as [string, ...string[]];
    for (const kid of older) {
      expect(documentOf(await run('remove', kid, '--yes', '--json'))).toEqual({
        use: 'checkpoint',
        kid,
        removed: true,
      });
    }
    expectFault(await run('remove', last, '--yes'), 1, /is the last checkpoint key/);
    expect(await list()).toMatchObject([
      { use: 'signing', kid: youngest, current: true },
      { use: 'cursor', kid: newest, current: true },
      { use: 'checkpoint', kid: last, current: true },
    ]);
  });

  it.each(['rotate signing', 'rotate cursor', 'rotate checkpoint', 'remove'])(
    'explains `%s` on --help, with --json and --yes',
    async (words) => {
      const { exitCode, stdout, stderr } = await run(...words.split(' '), '--help');
      expect([exitCode, stderr]).toEqual([0, '']);
      expect(stdout).toContain(`Usage: admin keys ${words}`);
      for (const option of ['--json', '--yes', '--help']) expect(stdout).toContain(option);
    },
  );
});
