import { createPublicKey, generateKeyPairSync, hash } from 'node:crypto';
import { verifyCheckpoint } from '@sigstore/verify/dist/tlog/checkpoint.js';
import { signCheckpoint } from './checkpoint-signer.system';

type Arguments = Parameters<typeof verifyCheckpoint>;

const key = generateKeyPairSync('ed25519');
const origin = 'api.example.test/audit/00000000-0000-4000-8000-000000000001';
const root = 'ab'.repeat(32);
const rawKey = (of = key.publicKey): Buffer => Buffer.from(of.export({ format: 'jwk' }).x ?? '', 'base64url');
const keyId = (name: string, raw = rawKey()): Buffer =>
  hash('sha256', Buffer.concat([Buffer.from(name), Buffer.of(10, 1), raw]), 'buffer');

/** Opens a note with an implementation from a registry, which knows one key under one name. */
function opened(envelope: string, publicKey = key.publicKey, logID = keyId(origin)) {
  const entry = { inclusionProof: { checkpoint: { envelope } } } as Arguments[0];
  return verifyCheckpoint(entry, [{ baseURL: origin, logID, publicKey, validFor: {} }] as unknown as Arguments[1]);
}

describe('A signed checkpoint', () => {
  const note = signCheckpoint(origin, 4_711, root, key);

  it('has the origin, the size, the root and one signature line of the same key name', () => {
    const [text, signatures = ''] = note.split('\n\n');
    expect(text).toBe(`${origin}\n4711\n${Buffer.from(root, 'hex').toString('base64')}`);
    expect(signatures).toMatch(/^\u2014 api\.example\.test\/audit\/[0-9a-f-]{36} [A-Za-z0-9+/]+={0,2}\n$/);
    const signature = Buffer.from(signatures.trim().split(' ')[2] ?? '', 'base64');
    expect(signature).toHaveLength(4 + 64);
    expect(signature.subarray(0, 4)).toEqual(keyId(origin).subarray(0, 4));
  });

  it('is accepted by another implementation', () => {
    const checkpoint = opened(note);
    expect([checkpoint.origin, checkpoint.logSize, checkpoint.logHash.toString('hex')]).toEqual([origin, 4_711n, root]);
  });

  it.each([
    ['another size', note.replace('4711', '4712')],
    ['another root', note.replace(/^.+=$/m, Buffer.alloc(32).toString('base64'))],
    ['another origin', note.replace('api.', 'api2.')],
  ])('is refused by it with %s', (_what, altered) => {
    expect(altered).not.toBe(note);
    expect(() => opened(altered)).toThrow('invalid checkpoint signature');
  });

  it('is refused by it under another key', () => {
    const other = generateKeyPairSync('ed25519');
    expect(() => opened(note, other.publicKey)).toThrow('invalid checkpoint signature');
    expect(() => opened(note, key.publicKey, keyId(origin, rawKey(other.publicKey)))).toThrow(/invalid checkpoint/);
  });

  /** The example of the C2SP specification. Its key is in the specification of the format's Go implementation. */
  it('has the key id of the Go implementation', () => {
    // PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW
    const raw = Buffer.from('ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW', 'base64').subarray(1);
    const x = raw.toString('base64url');
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    const signed = signCheckpoint('PeterNeumann', 0, root, { ...key, publicKey });
    expect(
      Buffer.from(signed.trim().split(' ').at(-1) ?? '', 'base64')
        .subarray(0, 4)
        .toString('hex'),
    ).toBe('c74f20a3');
  });
});
