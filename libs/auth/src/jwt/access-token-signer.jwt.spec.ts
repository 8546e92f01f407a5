import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applicationId, workspaceId } from '#libs/kernel';
import { type Settings } from '#libs/platform/config';
import { TOKEN_KEYS, listKeys, removeKey, rotateKey } from '#libs/platform/keys';
import { JwtService } from '@nestjs/jwt';
import { FakeClock } from '../../../kernel/src/clock.fake';
import { makeFifo } from '../../../../test/support/fifo';
import { putKey } from '../../../../test/support/put-key';
import { TokenInvalid } from '../domain/authentication-errors';
import { AccessTokenSignerJwt, SigningKeys } from './access-token-signer.jwt';

const pemOf = (modulusLength: number) =>
  generateKeyPairSync('rsa', { modulusLength }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;

/** Node 26 crashes when it parses this some times. */
const DEEP = Buffer.from(`${'['.repeat(7_000)}${'[0,'.repeat(1_400)}{`).toString('base64url');

/** Making a key takes long. */
const PEMS = Array.from({ length: 3 }, () => pemOf(2048));
let given = 0;
/** Another one than the two before. */
const otherPem = () => PEMS[(given += 1) % PEMS.length] as string;

describe('Access tokens', () => {
  const OLD = '20251231T000000000Z-00000001';
  const NEW = '20251231T000000000Z-00000002';
  let directory: string;
  let clock: FakeClock;
  let keys: SigningKeys;
  let signer: AccessTokenSignerJwt;
  let token: string;
  const put = (kid: string) => writeFileSync(join(directory, `${kid}.pem`), otherPem());

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    put(OLD);
    clock = new FakeClock(Date.UTC(2026, 0, 1));
    keys = await new SigningKeys(directory, clock).open();
    const url = 'https://api.example.test';
    const settings = { baseUrl: url, tokenAudience: url, accessTokenTtlSeconds: 3600 } as Settings;
    signer = new AccessTokenSignerJwt(new JwtService({}), keys, settings, clock);
    ({ token } = await signer.sign({
      clientId: 'ci_test',
      applicationId: applicationId('1'),
      workspaceId: workspaceId('00000000-0000-4000-8000-000000000001'),
      scopes: ['all:read'],
      generation: 1n,
      tokenId: 'one',
    }));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('stay valid during a rotation', async () => {
    const claims = await signer.verify(token);
    put(NEW);
    await keys.reread();
    clock.advance(10_000);
    expect(keys.current().kid).toBe(NEW);
    expect(await signer.verify(token)).toEqual(claims);
  });

  it.each([
    ['header', `${DEEP}.e30.x`],
    [
      'claims',
      `${Buffer.from(`{"typ":"at+jwt","kid":"20251231T000000000Z-00000001"}`).toString('base64url')}.${DEEP}.x`,
    ],
  ])('are not parsed when their %s has thousands of levels', async (_, deep) => {
    const parse = jest.spyOn(JSON, 'parse');

    await expect(signer.verify(deep)).rejects.toThrow(TokenInvalid);
    expect(parse.mock.calls.some(([text]) => text.startsWith('[[['))).toBe(false);
    parse.mockRestore();
  });

  it('end with the key that signed them, even if they were accepted before', async () => {
    await signer.verify(token);
    put(NEW);
    rmSync(join(directory, `${OLD}.pem`));
    await keys.reread();
    await expect(signer.verify(token)).rejects.toThrow(TokenInvalid);
  });

  it('end when another key replaces theirs', async () => {
    await signer.verify(token);
    put(OLD);
    await keys.reread();
    await expect(signer.verify(token)).rejects.toThrow(TokenInvalid);
  });

  it.each([
    ['padding', (own: string) => `${own}==`],
    // 256 bytes take 342 characters. The last one has four unused bits.
    ['surplus bits', (own: string) => own.slice(0, -1) + ALPHABET[ALPHABET.indexOf(own.slice(-1)) + 1]],
    ['the other alphabet', (own: string) => own.replaceAll('-', '+').replaceAll('_', '/')],
  ])('are accepted only as they were signed: a signature with %s is refused', async (_, respell) => {
    const respelled = respell(token);
    expect(Buffer.from(signatureOf(respelled), 'base64url')).toEqual(Buffer.from(signatureOf(token), 'base64url'));
    expect(respelled).not.toBe(token);
    await signer.verify(token);
    for (let time = 0; time < 2; time += 1) await expect(signer.verify(respelled)).rejects.toThrow(TokenInvalid);
  });
});

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const signatureOf = (token: string): string => token.slice(token.lastIndexOf('.') + 1);

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
