import { bearerChallenge } from './bearer-challenge';

describe('The bearer challenge', () => {
  it('names the metadata of the API at its base URL', () => {
    expect(bearerChallenge('https://api.example.com', { error: 'invalid_token' })).toBe(
      'Bearer realm="compliance-api", error="invalid_token", ' +
        'resource_metadata="https://api.example.com/.well-known/oauth-protected-resource"',
    );
  });

  it('places the path of the base URL behind the well-known one', () => {
    expect(bearerChallenge('https://example.com/compliance/api')).toBe(
      'Bearer realm="compliance-api", ' +
        'resource_metadata="https://example.com/.well-known/oauth-protected-resource/compliance/api"',
    );
  });
});
