import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSettings } from '#libs/platform/config';
import { makeMissingKeys } from './local-keys';
import { listSigningKeys } from './signing-key-files';

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

  it.each([
    ['is not there', () => undefined],
    ['is the root of a file system of its own', () => mkdirSync(join(signing, 'lost+found'), { recursive: true })],
    ['holds a hidden file', () => (mkdirSync(signing), writeFileSync(join(signing, '.gitkeep'), ''))],
  ])(
    'makes one signing key when its directory %s, even in concurrent starts, and never again',
    async (_how, arrange) => {
      arrange();
      const before = existsSync(signing) ? readdirSync(signing).filter((name) => !name.startsWith('.keys-lock')) : [];
      const made = (await Promise.all([make(), make()])).flat();
      expect(made.filter((path) => path === signing)).toHaveLength(1);
      const keys = await listSigningKeys(signing);
      expect(keys).toHaveLength(1);
      expect(await make()).toEqual([]);
      expect(await listSigningKeys(signing)).toEqual(keys);
      expect(readdirSync(signing)).toEqual(expect.arrayContaining(before));
      expect(readdirSync(directory).filter((name) => name.startsWith('.'))).toEqual([]);
    },
  );
});
