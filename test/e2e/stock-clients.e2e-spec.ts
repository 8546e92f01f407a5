import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import type { ArrangedApplication } from '../support/arrangement';
import { type TestApp, startApp } from '../support/start-app';

/** The used part of the package, which has no types. */
interface SimpleOauth2 {
  readonly ClientCredentials: new (options: object) => {
    getToken(parameters: object): Promise<{ readonly token: { readonly access_token: string } }>;
  };
}
const { ClientCredentials } = jest.requireActual<SimpleOauth2>('simple-oauth2');

const SCOPE = 'inventory:read';

describe('Stock OAuth clients', () => {
  let app: TestApp;
  let workspace: string;
  let good: ArrangedApplication;
  let wrong: ArrangedApplication;
  beforeAll(async () => {
    app = await startApp();
    workspace = await app.arrange.aWorkspace();
  });
  beforeEach(async () => {
    good = await app.arrange.anApplication(workspace);
    wrong = { ...good, clientSecret: 'wrong' };
  });
  afterAll(() => app.stop());

  const server = () => ({ issuer: app.settings.baseUrl, token_endpoint: `${app.origin}/oauth/token` });
  const opens = async (token: string) => (await app.client(token).get('/v1/inventory/categories')).status;

  describe('oauth4webapi', () => {
    const ask = async ({ clientId, clientSecret }: ArrangedApplication, way: (secret: string) => oauth.ClientAuth) => {
      const client = { client_id: clientId };
      const insecure = { [oauth.allowInsecureRequests]: true };
      const form = new URLSearchParams({ scope: SCOPE });
      const response = await oauth.clientCredentialsGrantRequest(server(), client, way(clientSecret), form, insecure);
      return oauth.processClientCredentialsResponse(server(), client, response);
    };

    it.each([
      ['Basic', oauth.ClientSecretBasic],
      ['the form', oauth.ClientSecretPost],
    ] as const)('gets a token by %s', async (_, way) => {
      const token = await ask(good, way);
      expect(token).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: SCOPE });
      expect(await opens(token.access_token)).toBe(200);
    });

    it('reads the refusal of a form as the error of RFC 6749', async () => {
      const error = await ask(wrong, oauth.ClientSecretPost).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(oauth.ResponseBodyError);
      expect(error).toMatchObject({
        status: 401,
        error: 'invalid_client',
        error_description: expect.any(String) as string,
      });
    });

    it('reads the refusal of Basic as a challenge', async () => {
      const error = await ask(wrong, oauth.ClientSecretBasic).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(oauth.WWWAuthenticateChallengeError);
      expect(error).toMatchObject({
        status: 401,
        cause: [{ scheme: 'basic', parameters: { realm: 'compliance-api' } }],
      });
    });
  });

  describe('openid-client', () => {
    const ask = async ({ clientId, clientSecret }: ArrangedApplication, way: (secret: string) => openid.ClientAuth) => {
      const configuration = new openid.Configuration(server(), clientId, {}, way(clientSecret));
      openid.allowInsecureRequests(configuration);
      return openid.clientCredentialsGrant(configuration, { scope: SCOPE });
    };

    it.each([
      ['Basic', openid.ClientSecretBasic],
      ['the form', openid.ClientSecretPost],
    ] as const)('gets a token by %s', async (_, way) => {
      const token = await ask(good, way);
      expect([token.scope, token.expiresIn()]).toEqual([SCOPE, expect.closeTo(3600, -1)]);
      expect(await opens(token.access_token)).toBe(200);
    });

    it('reads the refusal of a form as the error of RFC 6749', async () => {
      const error = await ask(wrong, openid.ClientSecretPost).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(openid.ResponseBodyError);
      expect(error).toMatchObject({ status: 401, error: 'invalid_client' });
    });

    it('reads the refusal of Basic as a challenge', async () => {
      const error = await ask(wrong, openid.ClientSecretBasic).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(openid.WWWAuthenticateChallengeError);
    });
  });

  describe('simple-oauth2', () => {
    const ask = async ({ clientId, clientSecret }: ArrangedApplication, authorizationMethod: 'header' | 'body') =>
      new ClientCredentials({
        client: { id: clientId, secret: clientSecret },
        auth: { tokenHost: app.origin, tokenPath: '/oauth/token' },
        options: { authorizationMethod },
      }).getToken({ scope: SCOPE });

    it.each([
      ['Basic', 'header'],
      ['the form', 'body'],
    ] as const)('gets a token by %s', async (_, method) => {
      const { token } = await ask(good, method);
      expect(token).toMatchObject({ token_type: 'Bearer', scope: SCOPE });
      expect(await opens(token.access_token)).toBe(200);
    });

    it.each(['header', 'body'] as const)('reads the refusal of credentials in the %s', async (method) => {
      const error = await ask(wrong, method).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({
        isBoom: true,
        output: { statusCode: 401 },
        data: { payload: { error: 'invalid_client', code: 'invalid_client' } },
      });
    });
  });
});
