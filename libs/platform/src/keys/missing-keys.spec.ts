import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AUDIT_KEY } from '../../../audit/src/system/audit-key';
import { PEPPER } from '../../../auth/src/system/pepper';
import { makeFifo } from '../../../../test/support/fifo';
import { type Settings, SettingsInvalid, loadSettings } from '../config/settings';
import { listKeys, makeFirstKey } from './key-files';
import { CHECKPOINT_KEYS, CURSOR_KEYS, KEY_KINDS } from './key-kinds';
import { assertKeysReadable, makeMissingKeys } from './missing-keys';

const secretFiles = [PEPPER, AUDIT_KEY];

describe('Keys that the settings name', () => {
  let directory: string;
  let settings: Settings;
  const at = (name: string): string => join(directory, name);
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    settings = loadSettings({
      DATABASE_URL: 'postgres://api@db/c',
      ...{ SIGNING_KEYS_DIR: at('signing'), SECRET_PEPPER_FILE: at('pepper'), AUDIT_KEY_FILE: at('audit') },
    });
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const make = () => makeMissingKeys(settings, secretFiles);
  const keys = () => Promise.all(Object.values(KEY_KINDS).map((kind) => listKeys(kind, at('signing'))));
  const faults = (): readonly string[] => {
    try {
      assertKeysReadable(settings, secretFiles);
      return [];
    } catch (error) {
      if (error instanceof SettingsInvalid) return error.faults;
      throw error;
    }
  };

  it('are each reported missing by the name of their setting, until they are made', async () => {
    expect(faults()).toEqual([
      `SIGNING_KEYS_DIR names ${at('signing')}, which does not exist; run: admin keys init`,
      `SECRET_PEPPER_FILE names ${at('pepper')}, which does not exist; run: admin keys init`,
      `AUDIT_KEY_FILE names ${at('audit')}, which does not exist; run: admin keys init`,
    ]);
    expect(await make()).toEqual([at('signing'), at('pepper'), at('audit')]);
    expect(faults()).toEqual([]);
  });

  it('are refused when they are of the wrong kind or hardly secret', () => {
    writeFileSync(at('signing'), '');
    writeFileSync(at('pepper'), 'x'.repeat(15));
    writeFileSync(at('audit'), 'x'.repeat(31));
    expect(faults()).toEqual([
      `SIGNING_KEYS_DIR names ${at('signing')}, which cannot be read (ENOTDIR)`,
      `SECRET_PEPPER_FILE names ${at('pepper')}, which holds less than 16 bytes`,
      `AUDIT_KEY_FILE names ${at('audit')}, which holds less than 32 bytes`,
    ]);
  });

  it('are refused when they are directories or named pipes, which nobody may ever write to', () => {
    for (const name of ['signing', 'pepper']) mkdirSync(at(name));
    makeFifo(at('audit'));
    expect(faults()).toEqual([
      `SECRET_PEPPER_FILE names ${at('pepper')}, which cannot be read (EISDIR)`,
      `AUDIT_KEY_FILE names ${at('audit')}, which cannot be read (not a regular file)`,
    ]);
  });

  it('get a checkpoint key beside those of a release without one', async () => {
    await make();
    const [tokens, cursors, checkpoints] = await keys();
    for (const { kid } of checkpoints ?? []) rmSync(at(`signing/${kid}${CHECKPOINT_KEYS.suffix}`));
    for (const name of readdirSync(at('signing'))) chmodSync(at(`signing/${name}`), 0o640);

    expect(await make()).toEqual([at('signing')]);

    expect(await keys()).toEqual([tokens, cursors, [expect.not.objectContaining({ kid: checkpoints?.[0]?.kid })]]);
    for (const name of readdirSync(at('signing'))) expect(statSync(at(`signing/${name}`)).mode & 0o777).toBe(0o640);
  });

  it.each([
    ['is not there', []],
    ['is the root of a file system of its own', ['lost+found']],
    ['holds what a crash left', ['.first.cursor.key']],
  ])('are one of a kind when the directory %s, even in concurrent starts, and never again', async (_how, before) => {
    for (const name of before) {
      mkdirSync(at('signing'), { recursive: true });
      writeFileSync(at(`signing/${name}`), await CURSOR_KEYS.generate());
    }
    const makeFirst = () => makeFirstKey(CURSOR_KEYS, at('signing'));

    const made = await Promise.all(Array.from({ length: 10 }, makeFirst));

    expect(made.filter(Boolean)).toHaveLength(1);
    const keys = await listKeys(CURSOR_KEYS, at('signing'));
    const others = before.filter((name) => !name.startsWith('.first'));
    expect(readdirSync(at('signing'))).toEqual([...keys.map(({ kid }) => `${kid}.cursor.key`), ...others]);
    expect(keys).toHaveLength(1);
    expect(await makeFirst()).toBe(false);
  });

  it('are one of a kind although another process made one while this one generated its own', async () => {
    const makeFirst = () => makeFirstKey(CURSOR_KEYS, at('signing'));
    const slow = { ...CURSOR_KEYS, generate: async () => (await makeFirst(), CURSOR_KEYS.generate()) };

    expect(await makeFirstKey(slow, at('signing'))).toBe(false);

    expect(readdirSync(at('signing'))).toHaveLength(1);
  });
});
