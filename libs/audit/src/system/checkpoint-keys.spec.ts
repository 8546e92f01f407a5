import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHECKPOINT_KEYS, TOKEN_KEYS, rotateKey } from '#libs/platform/keys';
import { FakeClock } from '../../../kernel/src/clock.fake';
import { putKey } from '../../../../test/support/put-key';
import { CheckpointKeys } from './checkpoint-keys';

describe('CheckpointKeys', () => {
  let directory: string;
  let clock: FakeClock;
  let keys: CheckpointKeys;
  let tokenKey: string;
  const put = () => putKey(CHECKPOINT_KEYS, directory, clock.now());

  beforeAll(async () => {
    tokenKey = await TOKEN_KEYS.generate();
  });
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    clock = new FakeClock(Date.UTC(2026, 0, 1));
    keys = new CheckpointKeys(directory, clock);
    writeFileSync(join(directory, '20260101T000000000Z-00000001.pem'), tokenKey);
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('reports the command that creates a key when there are only token keys', async () => {
    const fault = 'SIGNING_KEYS_DIR holds no key (*.checkpoint.pem); admin keys init makes one.';
    expect(await keys.reread()).toEqual({ kids: [], faults: [fault] });
    expect([keys.inUse(), keys.jwks]).toEqual([null, { keys: [] }]);
  });

  it('publishes Ed25519 keys by RFC 8037 without private members', async () => {
    const kid = await put();

    await keys.reread();

    const x = expect.stringMatching(/^[\w-]{43}$/) as string;
    expect(keys.jwks).toEqual({ keys: [{ kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA' }] });
  });

  it('signs with a new key after a minute, and publishes the old one for kept checkpoints', async () => {
    const old = await put();
    await keys.reread();
    const { kid } = await rotateKey(CHECKPOINT_KEYS, directory, clock);
    await keys.reread();
    expect(keys.inUse()?.kid).toBe(old);
    clock.advance(60_001);
    expect(keys.inUse()?.kid).toBe(kid);
    expect(keys.jwks.keys.map((key) => key.kid)).toEqual([kid, old]);
    expect(readdirSync(directory).filter((name) => name.endsWith('.checkpoint.pem'))).toHaveLength(2);
  });

  it('refuses keys of another algorithm under its names', async () => {
    writeFileSync(join(directory, 'other.checkpoint.pem'), tokenKey);
    const { faults } = await keys.reread();
    expect(faults).toEqual(['SIGNING_KEYS_DIR: other.checkpoint.pem is no unencrypted Ed25519 private key.']);
  });
});
