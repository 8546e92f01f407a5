import { createPublicKey, verify } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { SCOPES } from '#libs/kernel';
import { decodeProtectedHeader } from '../support/jwt';
import { type TestApp, startApp, startInstance } from '../support/start-app';

const SERVER = '/.well-known/oauth-authorization-server';
const RESOURCE = '/.well-known/oauth-protected-resource';
const KEYS = '/.well-known/jwks.json';
const SCOPE = 'inventory:read';

describe('Discovery', () => {
  let app: TestApp;
  let workspace: string;
  beforeAll(async () => {
    app = await startApp();
    workspace = await app.arrange.aWorkspace();
  });
  afterAll(() => app.stop());

  /** Goes to this instance where a client means its base URL. */
  const throughBaseUrl = (url: string, init: object): Promise<Response> =>
    fetch(url.replace(app.settings.baseUrl, app.origin), init);

  describe('without a token', () => {
    it('describes the authorization server (RFC 8414)', async () => {
      const { status, body, headers } = await app.client().get(SERVER);

      expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
      expect(headers.get('cache-control')).toBe('public, max-age=3600');
      expect(body).toEqual({
        issuer: 'https://api.example.test',
        token_endpoint: 'https://api.example.test/oauth/token',
        jwks_uri: 'https://api.example.test/.well-known/jwks.json',
        scopes_supported: [...SCOPES],
        response_types_supported: ['none'],
        grant_types_supported: ['client_credentials'],
        token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
        token_endpoint_auth_signing_alg_values_supported: ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA', 'Ed25519'],
        service_documentation: 'https://api.example.test/docs',
      });
    });

    it('describes the API as a protected resource (RFC 9728)', async () => {
      const { status, body, headers } = await app.client().get(RESOURCE);

      expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=3600']);
      expect(body).toEqual({
        resource: 'https://api.example.test',
        authorization_servers: ['https://api.example.test'],
        scopes_supported: [...SCOPES],
        bearer_methods_supported: ['header'],
        resource_documentation: 'https://api.example.test/docs',
      });
    });

    it('returns the public key of a token and no private member', async () => {
      const token = await app.arrange.aToken(workspace);

      const { body, headers } = await app.client().get<{ keys: Record<string, string>[] }>(KEYS);

      expect(headers.get('cache-control')).toBe('public, max-age=30');
      const { kid } = decodeProtectedHeader(token);
      const [key = {}] = body.keys.filter((one) => one['kid'] === kid);
      expect(Object.keys(key).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
      const [header, payload, signature] = token.split('.') as [string, string, string];
      const signed = Buffer.from(`${header}.${payload}`);
      const publicKey = createPublicKey({ key, format: 'jwk' });
      expect(verify('sha256', signed, publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
    });

    it('returns the public checkpoint key beside token keys', async () => {
      const { body } = await app.client().get<{ keys: Record<string, string>[] }>(KEYS);

      const [key = {}] = body.keys.filter(({ kty }) => kty === 'OKP');
      expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
      expect(key).toMatchObject({ crv: 'Ed25519', alg: 'EdDSA', use: 'sig' });
      expect(createPublicKey({ key, format: 'jwk' }).asymmetricKeyType).toBe('ed25519');
    });

    it.each([SERVER, RESOURCE, KEYS])('charges no bucket for %s', async (path) => {
      const own = await startInstance(app, { RATE_LIMIT_READ: '1/1' });
      for (let request = 0; request < 5; request += 1) {
        const { status, headers } = await own.client().get(path);
        expect([status, headers.get('x-ratelimit-limit')]).toEqual([200, null]);
      }
      await own.stop();
    });

    it.each([SERVER, RESOURCE, KEYS])('refuses a parameter and another method at %s', async (path) => {
      expect((await app.client().get(`${path}?verbose=1`)).body['code']).toBe('validation_failed');
      const { status, headers } = await app.client().send('POST', path);
      expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    });
  });

  describe('from a refused request', () => {
    const METADATA = 'resource_metadata="https://api.example.test/.well-known/oauth-protected-resource"';

    it.each([
      ['a request without a token', {}],
      ['a token that is not ours', { headers: { Authorization: 'Bearer a.b.c' } }],
    ])('names the metadata in the challenge of %s', async (_, init) => {
      const { status, headers } = await app.client().get('/v1/me', init);
      expect([status, headers.get('www-authenticate')]).toEqual([401, expect.stringContaining(METADATA)]);
    });

    it('names the metadata in the challenge of a missing scope', async () => {
      const client = await app.arrange.aClient(workspace, ['computers:read']);
      const { status, headers } = await client.get('/v1/inventory/assets');
      expect([status, headers.get('www-authenticate')]).toEqual([403, expect.stringContaining(METADATA)]);
    });
  });

  describe('with a path in BASE_URL', () => {
    it('places that path behind the well-known one, as RFC 8414 says', async () => {
      const own = await startInstance(app, { BASE_URL: 'https://example.test/compliance' });
      const { headers } = await own.client().get('/v1/me');
      expect(headers.get('www-authenticate')).toContain(
        'resource_metadata="https://example.test/.well-known/oauth-protected-resource/compliance"',
      );
      expect((await own.client().get(RESOURCE)).body['resource']).toBe('https://example.test/compliance');
      await own.stop();
    });
  });

  describe("leads to a page from the API's address alone, with", () => {
    it('oauth4webapi', async () => {
      const { clientId, clientSecret } = await app.arrange.anApplication(workspace);
      const options = { [oauth.customFetch]: throughBaseUrl };
      const resource = new URL(app.settings.baseUrl);

      const described = await oauth.resourceDiscoveryRequest(resource, options);
      const { authorization_servers: servers } = await oauth.processResourceDiscoveryResponse(resource, described);
      const issuer = new URL(servers?.[0] ?? '');
      const found = await oauth.discoveryRequest(issuer, { ...options, algorithm: 'oauth2' });
      const server = await oauth.processDiscoveryResponse(issuer, found);
      const client = { client_id: clientId };
      const form = new URLSearchParams({ scope: SCOPE });
      const secret = oauth.ClientSecretBasic(clientSecret);
      const response = await oauth.clientCredentialsGrantRequest(server, client, secret, form, options);
      const { access_token: token } = await oauth.processClientCredentialsResponse(server, client, response);
      const page = await oauth.protectedResourceRequest(
        token,
        'GET',
        new URL(`${app.settings.baseUrl}/v1/inventory/assets`),
        new Headers(),
        null,
        options,
      );

      expect(page.status).toBe(200);
    });

    it('oauth4webapi as a resource server that checks the token by the key set', async () => {
      const token = await app.arrange.aToken(workspace, [SCOPE]);
      const options = { [oauth.customFetch]: throughBaseUrl };
      const issuer = new URL(app.settings.baseUrl);
      const found = await oauth.discoveryRequest(issuer, { ...options, algorithm: 'oauth2' });
      const server = await oauth.processDiscoveryResponse(issuer, found);
      const request = new Request('https://other.example.test', { headers: { Authorization: `Bearer ${token}` } });

      const claims = await oauth.validateJwtAccessToken(server, request, app.settings.tokenAudience, options);

      expect([claims.scope, claims.iss]).toEqual([SCOPE, app.settings.baseUrl]);
    });

    it('oauth4webapi from the challenge of a refused request', async () => {
      const options = { [oauth.customFetch]: throughBaseUrl };
      const asset = new URL(`${app.settings.baseUrl}/v1/me`);
      const refused = await oauth
        .protectedResourceRequest('a.b.c', 'GET', asset, new Headers(), null, options)
        .catch((error: unknown) => error);

      expect(refused).toBeInstanceOf(oauth.WWWAuthenticateChallengeError);
      const [challenge] = (refused as oauth.WWWAuthenticateChallengeError).cause;
      expect(challenge?.parameters['resource_metadata']).toBe(`${app.settings.baseUrl}${RESOURCE}`);
    });

    it('openid-client', async () => {
      const { clientId, clientSecret } = await app.arrange.anApplication(workspace);
      const options = { algorithm: 'oauth2', [openid.customFetch]: throughBaseUrl } as const;

      const configuration = await openid.discovery(
        new URL(app.settings.baseUrl),
        clientId,
        {},
        openid.ClientSecretPost(clientSecret),
        options,
      );
      const { access_token: token } = await openid.clientCredentialsGrant(configuration, { scope: SCOPE });

      expect((await app.client(token).get('/v1/inventory/assets')).status).toBe(200);
    });
  });
});
