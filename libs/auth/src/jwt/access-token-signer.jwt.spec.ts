import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applicationId, workspaceId } from '#libs/kernel';
import { type Settings } from '#libs/platform/config';
import { JwtService } from '@nestjs/jwt';
import { FakeClock } from '../../../kernel/src/clock.fake';
import { TokenInvalid } from '../domain/authentication-errors';
import { AccessTokenSignerJwt, SigningKeys } from './access-token-signer.jwt';

const OLD = '20251231T000000000Z-00000001';
const NEW = '20251231T000000000Z-00000002';

describe('Access tokens', () => {
  let directory: string;
  let clock: FakeClock;
  let keys: SigningKeys;
  let signer: AccessTokenSignerJwt;
  let token: string;
  const put = (kid: string) => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    writeFileSync(join(directory, `${kid}.pem`), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  };

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
