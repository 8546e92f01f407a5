import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TOKEN_KEYS, listKeys, removeKey, rotateKey } from '#libs/platform/keys';
import { FakeClock } from '../../../kernel/src/clock.fake';
import { makeFifo } from '../../../../test/support/fifo';
import { putKey } from '../../../../test/support/put-key';
import { SigningKeys } from './access-token-signer.jwt';

const pemOf = (modulusLength: number) =>
  generateKeyPairSync('rsa', { modulusLength }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;

describe('SigningKeys', () => {
  const pem = pemOf(2048);
  let directory: string;
  let clock: FakeClock;
  const path = (name: string) => join(directory, name);
  const put = (kid: string, content = pem) => writeFileSync(path(`${kid}.pem`), content, { mode: 0o600 });
  const open = () => new SigningKeys(directory, clock).open();
  const published = (keys: SigningKeys) => keys.jwks.keys.map(({ kid }) => kid);
  const FIRST = '20251231T000000000Z-00000001';

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    clock = new FakeClock(Date.UTC(2026, 0, 1));
    put(FIRST);
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('publishes and accepts a new key at once, and signs with it when every instance must know it', async () => {
    const instance = await open();
    const { kid, createdAt } = await rotateKey(TOKEN_KEYS, directory, clock);
    expect([createdAt, kid.startsWith('20260101T000000000Z-')]).toEqual([clock.now(), true]);
    expect(published(instance)).toEqual([FIRST]);

    expect(await instance.reread()).toEqual({ kids: [kid, FIRST], faults: [] });
    expect(published(instance)).toEqual([kid, FIRST]);
    clock.advance(59_999);
    expect(instance.publicKey(kid)).not.toBeNull();
    expect(instance.current().kid).toBe(FIRST);
    expect((await open()).current().kid).toBe(FIRST);

    clock.advance(1);
    expect(instance.current().kid).toBe(kid);
    expect(instance.publicKey(FIRST)).not.toBeNull();
  });

  it('signs with a key only after other instances can have read it, whatever its age', async () => {
    const instance = await open();
    const YESTERDAY = '20251231T120000000Z-00000002';
    put(YESTERDAY);
    await instance.reread();
    clock.advance(9_999);
    expect(instance.current().kid).toBe(FIRST);
    await instance.reread();
    clock.advance(1);
    expect(instance.current().kid).toBe(YESTERDAY);
    expect((await open()).current().kid).toBe(YESTERDAY);
  });

  it('signs at once with the first key of a directory', async () => {
    rmSync(path(`${FIRST}.pem`));
    const kid = await putKey(TOKEN_KEYS, directory, clock.now());
    expect((await open()).current().kid).toBe(kid);
  });

  it('drops a removed key and signs with the next at once, however young', async () => {
    const young = '20260101T000000000Z-00000002';
    put(young);
    const instance = await open();
    expect(instance.current().kid).toBe(FIRST);
    expect(await removeKey(TOKEN_KEYS, directory, FIRST)).toBe(true);
    expect(await instance.reread()).toEqual({ kids: [young], faults: [] });
    expect([instance.current().kid, instance.publicKey(FIRST), published(instance)]).toEqual([young, null, [young]]);
  });

  it('never loses its last key, even to concurrent removals', async () => {
    for (let made = 2; made <= 8; made += 1) put(`20260101T000000000Z-0000000${made}`);
    const kids = (await listKeys(TOKEN_KEYS, directory)).map(({ kid }) => kid);
    const outcomes = await Promise.allSettled(kids.map((kid) => removeKey(TOKEN_KEYS, directory, kid)));
    const kept = kids.filter((_kid, index) => outcomes[index]?.status === 'rejected');
    expect((await listKeys(TOKEN_KEYS, directory)).map(({ kid }) => kid)).toEqual(kept);
    expect(kept).not.toEqual([]);
    expect(readdirSync(directory)).toEqual(kept.map((kid) => `${kid}.pem`).sort());
    expect(await removeKey(TOKEN_KEYS, directory, 'none')).toBe(false);
  });

  it.each([
    ['is half written', () => put('broken', pem.slice(0, 400))],
    ['is no key', () => put('broken', 'hunter2')],
    ['cannot be read', () => mkdirSync(path('broken.pem'))],
    ['is a pipe', () => makeFifo(path('broken.pem'))],
  ])('keeps a key when the only other one %s, because running instances would keep it', async (_what, spoil) => {
    spoil();
    await expect(removeKey(TOKEN_KEYS, directory, FIRST)).rejects.toThrow(/last signing key that can be used/);
    put('good');
    expect(await removeKey(TOKEN_KEYS, directory, FIRST)).toBe(true);
  });

  it('keeps all of many concurrently made keys, with the permissions of the one before', async () => {
    const made = await Promise.all([1, 2, 3].map(() => rotateKey(TOKEN_KEYS, directory, clock)));
    const names = [FIRST, ...made.map(({ kid }) => kid)].map((kid) => `${kid}.pem`);
    expect(readdirSync(directory).sort()).toEqual(names.sort());
    for (const name of names) expect(statSync(path(name)).mode & 0o777).toBe(0o600);
  });

  it('parses an unchanged file once, because parsing is slower than responding', async () => {
    const instance = await open();
    const before = instance.publicKey(FIRST);
    await instance.reread();
    expect(instance.publicKey(FIRST)).toBe(before);
    put(FIRST, pemOf(2048));
    await instance.reread();
    expect(instance.publicKey(FIRST)).not.toBe(before);
  });

  it('takes the age of a foreign key from its file', async () => {
    put('our-own');
    const [newest] = await listKeys(TOKEN_KEYS, directory);
    expect(newest).toEqual({ kid: 'our-own', createdAt: Math.floor(statSync(path('our-own.pem')).mtimeMs) });
  });

  const NEW = '20260101T000000000Z-00000002';
  const unusable: readonly (readonly [string, () => void, RegExp])[] = [
    ['a new file is half written', () => put(NEW, pem.slice(0, 400)), /000002\.pem is no unencrypted RSA private key/],
    ['a new file is no key', () => put(NEW, 'hunter2'), /000002\.pem is no unencrypted RSA/],
    ['a new key is too short', () => put(NEW, pemOf(1024)), /at least 2048 bits/],
    ['a new file cannot be read', () => mkdirSync(path(`${NEW}.pem`)), /000002\.pem cannot be read \(EISDIR\)/],
    ['a new file is a pipe', () => makeFifo(path(`${NEW}.pem`)), /000002\.pem cannot be read \(not a regular file\)/],
    ['the file of a known key is spoiled', () => put(FIRST, ''), /000001\.pem is no unencrypted RSA/],
    ['every file is gone', () => rmSync(path(`${FIRST}.pem`)), /holds no key/],
    ['the directory is gone', () => renameSync(directory, `${directory}-moved`), /cannot be read \(ENOENT\)/],
  ];

  it.each(unusable)('keeps its keys when %s, while a starting process exits', async (_what, spoil, why) => {
    const instance = await open();
    spoil();
    const { kids, faults } = await instance.reread();
    const starting = open();
    await expect(starting).rejects.toThrow(why);
    await expect(starting).rejects.toThrow(directory);
    if (faults[0]?.includes('ENOENT')) renameSync(`${directory}-moved`, directory);
    expect([kids, faults]).toEqual([[FIRST], [expect.stringMatching(why)]]);
    expect(instance.current().kid).toBe(FIRST);
    expect(faults[0]).not.toContain('hunter2');
  });

  it('keeps a known key whose file was damaged', async () => {
    put(NEW);
    const instance = await open();
    put(FIRST, '');
    expect((await instance.reread()).kids).toEqual([NEW, FIRST]);
    expect(instance.publicKey(FIRST)).not.toBeNull();
  });

  it('loads valid keys beside invalid ones', async () => {
    const instance = await open();
    put(NEW);
    put('broken', '-----BEGIN');
    rmSync(path(`${FIRST}.pem`));
    expect((await instance.reread()).kids).toEqual([NEW]);
  });
});
