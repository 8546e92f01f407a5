import { generateKeyPairSync } from 'node:crypto';
import { decodeJwt } from 'jose';
import { proofOf } from './client-proof';

describe('An assertion by the private key of an application', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('is valid for five minutes, and from any time on, so that the clock may be wrong', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    jest.spyOn(Date, 'now').mockReturnValue(1_800_000_000_999);

    const prove = proofOf('ci_1', 'https://api.test', { privateKey: { key: privateKey, algorithm: 'Ed25519' } });

    expect(decodeJwt((await prove())['client_assertion'] ?? '')).toEqual({
      iss: 'ci_1',
      sub: 'ci_1',
      aud: 'https://api.test',
      exp: 1_800_000_300,
      jti: expect.any(String) as string,
    });
  });
});
