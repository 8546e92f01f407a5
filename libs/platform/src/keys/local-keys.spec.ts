import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSettings } from '../config/settings';
import { makeMissingKeys } from './local-keys';
import { listPemKeys } from './pem-key-files';
import { CHECKPOINT_KEYS, TOKEN_KEYS } from './pem-key-kinds';

describe('makeMissingKeys', () => {
  let directory: string;
  let signing: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    signing = join(directory, 'signing');
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const make = () =>
    makeMissingKeys(
      loadSettings({ DATABASE_URL: 'postgres://api@db/c', SIGNING_KEYS_DIR: signing, LOCAL_DIR: directory }),
    );

  const both = () => Promise.all([TOKEN_KEYS, CHECKPOINT_KEYS].map((kind) => listPemKeys(kind, signing)));

  it('adds a checkpoint key to the keys of a release without one', async () => {
    await make();
    const [kid = ''] = (await listPemKeys(CHECKPOINT_KEYS, signing)).map((key) => key.kid);
    rmSync(join(signing, `${kid}.checkpoint.pem`));
    const [tokens] = await both();

    expect(await make()).toEqual([signing]);

    expect(await both()).toEqual([
      tokens,
      [expect.objectContaining({ kid: expect.not.stringMatching(kid) as string })],
    ]);
  });

  it.each([
    ['is not there', () => undefined],
    ['is the root of a file system of its own', () => mkdirSync(join(signing, 'lost+found'), { recursive: true })],
    ['holds a hidden file', () => (mkdirSync(signing), writeFileSync(join(signing, '.gitkeep'), ''))],
  ])(
    'makes one token key and one checkpoint key when the directory %s, even in concurrent starts, and never again',
    async (_how, arrange) => {
      arrange();
      const before = existsSync(signing) ? readdirSync(signing).filter((name) => !name.startsWith('.keys-lock')) : [];
      const made = (await Promise.all([make(), make()])).flat();
      expect(new Set(made)).toContain(signing);
      const keys = await both();
      expect(keys.map((kind) => kind.length)).toEqual([1, 1]);
      expect(await make()).toEqual([]);
      expect(await both()).toEqual(keys);
      expect(readdirSync(signing)).toEqual(expect.arrayContaining(before));
      expect(readdirSync(directory).filter((name) => name.startsWith('.'))).toEqual([]);
    },
  );
});
