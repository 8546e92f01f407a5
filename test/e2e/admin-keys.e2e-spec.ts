import { createPublicKey } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
    for (const use of ['signing', 'cursor', 'checkpoint']) {
      expectFault(await run('rotate', use), 1, /SIGNING_KEYS_DIR names .* which holds no key; run: admin keys init/);
    }
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

    const { SIGNING_KEYS_DIR = '' } = environment;
    const files = readdirSync(SIGNING_KEYS_DIR);
    const cursorKeys = kidsOf(items, 'cursor').map((kid) => `${kid}.cursor.key`);
    const expected = [
      ...kidsOf(items, 'signing').map((kid) => `${kid}.pem`),
      ...kidsOf(items, 'checkpoint').map((kid) => `${kid}.checkpoint.pem`),
      ...cursorKeys,
    ];
    expect(files.sort()).toEqual(expected.sort());
    for (const name of files) expect(statSync(join(SIGNING_KEYS_DIR, name)).mode & 0o777).toBe(0o600);
    const secrets = cursorKeys.map((name) => readFileSync(join(SIGNING_KEYS_DIR, name), 'utf8').trim());
    for (const { stdout } of made) for (const secret of secrets) expect(stdout).not.toContain(secret);
  });

  it('shows the public part of checkpoint keys, as the key set does, and of no other key', async () => {
    const items = await list();

    for (const { use, kid, x } of items) {
      if (use !== 'checkpoint') expect([use, x]).toEqual([use, null]);
      else {
        const file = join(environment['SIGNING_KEYS_DIR'] ?? '', `${String(kid)}.checkpoint.pem`);
        expect(x).toBe(createPublicKey(readFileSync(file)).export({ format: 'jwk' }).x);
      }
    }
    const [key] = items.filter(({ use }) => use === 'checkpoint');
    expect((await run('list')).stdout).toContain(String(key?.['x']));
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

  it('lists the keys of a CURSOR_KEYS_FILE of release 1.0.0, rotates and removes them', async () => {
    const file = join(directory, 'cursor.json');
    const secret = 'A'.repeat(43) + '=';
    writeFileSync(file, JSON.stringify({ keys: [{ kid: '453ec5f1', secret, createdAt: '2026-01-01T00:00:00.000Z' }] }));
    const old = { ...environment, CURSOR_KEYS_FILE: file };
    const cursors = async () => {
      const { items } = documentOf(await runAdmin(['keys', 'list', '--json'], old)) as { items: Row[] };
      return items.filter(({ use }) => use === 'cursor').map(({ kid, current }) => [kid, current]);
    };
    for (const [kid] of await cursors()) {
      if (kid !== '453ec5f1') rmSync(join(environment['SIGNING_KEYS_DIR'] ?? '', `${String(kid)}.cursor.key`));
    }
    expect(await cursors()).toEqual([['453ec5f1', true]]);
    expectFault(await runAdmin(['keys', 'remove', '453ec5f1', '--yes'], old), 1, /is the last cursor key/);

    const { kid } = documentOf(await runAdmin(['keys', 'rotate', 'cursor', '--json'], old));
    expect(await cursors()).toEqual([
      [kid, false],
      ['453ec5f1', true],
    ]);
    const removed = await runAdmin(['keys', 'remove', '453ec5f1', '--yes', '--json'], old);
    expect(documentOf(removed)).toEqual({ use: 'cursor', kid: '453ec5f1', removed: true });
    expect(await cursors()).toEqual([[kid, true]]);
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
