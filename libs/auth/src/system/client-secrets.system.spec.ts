import { createHmac } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { ClientSecretsSystem } from './client-secrets.system';

describe('Client secrets', () => {
  it('have the digest that was returned beside them', () => {
    const secrets = new ClientSecretsSystem(Buffer.alloc(16));
    const { secret, digest } = secrets.newSecret();
    expect(secrets.digest(secret)).toEqual(digest);
  });

  it('are 256 random bits and a checksum, never the same twice', () => {
    const secrets = new ClientSecretsSystem(Buffer.alloc(16));
    const made = Array.from({ length: 1_000 }, () => secrets.newSecret().secret);
    expect(new Set(made.map((secret) => secret.slice(3, 46))).size).toBe(1_000);
    for (const secret of made) {
      const [, random = '', checksum = ''] = /^cs_([\w-]{43})([\w-]{6})$/.exec(secret) ?? [];
      expect(Buffer.from(random, 'base64url')).toHaveLength(32);
      expect(Buffer.from(checksum, 'base64url').readUInt32BE()).toBe(crc32(random));
    }
  });

  it('are stored as HMAC-SHA256 under the pepper', () => {
    for (const pepper of [Buffer.alloc(16, 1), Buffer.alloc(16, 2)]) {
      const expected = createHmac('sha256', pepper).update('cs_one').digest();
      expect(new ClientSecretsSystem(pepper).digest('cs_one')).toEqual(expected);
    }
  });
});
