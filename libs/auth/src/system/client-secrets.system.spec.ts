import { ClientSecretsSystem } from './client-secrets.system';

describe('Client secrets', () => {
  it('are made with a pepper of 16 bytes at least', () => {
    for (const length of [0, 15])
      expect(() => new ClientSecretsSystem(Buffer.alloc(length))).toThrow(
        'SECRET_PEPPER_FILE is shorter than 16 bytes.',
      );
    const secrets = new ClientSecretsSystem(Buffer.alloc(16));
    const { secret, digest } = secrets.newSecret();
    expect(secrets.digest(secret)).toEqual(digest);
  });
});
