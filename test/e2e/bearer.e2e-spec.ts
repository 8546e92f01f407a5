import { type KeyObject, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { request } from 'node:http';
import type { ArrangedApplication } from '../support/arrangement';
import { decodeJwt, decodeProtectedHeader, forgeToken, signingKeyOf } from '../support/jwt';
import { headersOf, oracle } from '../contract/contract-oracle';
import { type TestApp, startApp } from '../support/start-app';

const PATH = '/v1/inventory/assets';
const METADATA = 'resource_metadata="https://api.example.test/.well-known/oauth-protected-resource"';

describe('Bearer tokens', () => {
  let app: TestApp;
  let workspace: string;
  let application: ArrangedApplication;
  let token: string;
  let signingKey: KeyObject;

  beforeAll(async () => {
    app = await startApp();
    workspace = await app.arrange.aWorkspace();
  });
  afterAll(() => app.stop());
  beforeEach(async () => {
    application = await app.arrange.anApplication(workspace, ['inventory:read']);
    token = await newToken();
    signingKey = signingKeyOf(token, app.settings.signingKeysDir);
  });

  const newToken = async (): Promise<string> => {
    const { body } = await app.client().requestToken({
      grant_type: 'client_credentials',
      client_id: application.clientId,
      client_secret: application.clientSecret,
    });
    return body['access_token'] as string;
  };
  const refusal = async (authorization: string | null) => {
    const { status, body, headers } = await app
      .client()
      .get(PATH, authorization === null ? {} : { headers: { Authorization: authorization } });
    return { status, code: body['code'], challenge: headers.get('www-authenticate') };
  };
  const invalid = {
    status: 401,
    code: 'token_invalid',
    challenge: expect.stringMatching(/^Bearer .*error="invalid_token"/) as string,
  };

  it('accepts an issued token, with the scheme in any case', async () => {
    expect((await app.client(token).get(PATH)).status).toBe(200);
    expect((await app.client().get(PATH, { headers: { Authorization: `bEARER ${token}` } })).status).toBe(200);
  });

  it.each([
    ['no header', null],
    ['another scheme', 'Basic abc'],
    ['a scheme that only begins alike', 'Bearerx abc'],
  ])('returns token_missing for %s', async (_, authorization) => {
    expect(await refusal(authorization)).toEqual({
      status: 401,
      code: 'token_missing',
      challenge: `Bearer realm="compliance-api", ${METADATA}`,
    });
  });

  it.each([
    ...['Bearer', 'Bearer a b', 'Bearer ???', 'Bearer a.b.c', 'Bearer e30.e30.e30'],
    `Bearer ${Buffer.from('{"typ":"JWT"}').toString('base64url')}.AAAA.AAAA`,
  ])('returns token_invalid for %s', async (authorization) => {
    expect(await refusal(authorization)).toEqual(invalid);
  });

  describe('a forged token gets token_invalid', () => {
    const forged = (header: object, claims: object, key: KeyObject | string | null = signingKey) =>
      `Bearer ${forgeToken({ ...decodeProtectedHeader(token), ...header }, { ...decodeJwt(token), ...claims }, key)}`;

    it('except the control, which changes nothing', async () => {
      expect((await app.client().get(PATH, { headers: { Authorization: forged({}, {}) } })).status).toBe(200);
    });

    it.each([
      ['alg none', () => forged({ alg: 'none' }, {}, null)],
      [
        'HS256 keyed with the public key',
        () =>
          forged({ alg: 'HS256' }, {}, createPublicKey(signingKey).export({ type: 'spki', format: 'pem' }) as string),
      ],
      ['RS512, though with our own key', () => forged({ alg: 'RS512' }, {})],
      ['a key of another', () => forged({}, {}, generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey)],
      ['a foreign kid', () => forged({ kid: 'somebody-elses' }, {})],
      ['a kid that is a path', () => forged({ kid: '../../etc/passwd' }, {})],
      ['no kid', () => forged({ kid: undefined }, {})],
      ['another type', () => forged({ typ: 'JWT' }, {})],
      ['an extension that must be understood', () => forged({ crit: ['exp'], exp: 1 }, {})],
      ['a signature with a surplus character', () => `${forged({}, {})}A`],
      ['another audience', () => forged({}, { aud: 'https://other.example' })],
      ['another issuer', () => forged({}, { iss: 'https://other.example' })],
      ['not valid yet', () => forged({}, { nbf: Math.floor(Date.now() / 1000) + 60 })],
      ['no expiry', () => forged({}, { exp: undefined })],
      ['another workspace', () => forged({}, { workspace: '00000000-0000-4000-8000-000000000000' })],
      ['an unknown application', () => forged({}, { client_id: 'ci_unknown' })],
      [
        'an altered payload',
        () => `Bearer ${token.replace(/\.(.)/, (_, first: string) => `.${first === 'e' ? 'f' : 'e'}`)}`,
      ],
    ])('%s', async (_, authorization) => {
      expect(await refusal(authorization())).toEqual(invalid);
    });

    it('returns token_expired when only the lifetime is over, with five seconds of leeway', async () => {
      const now = Math.floor(Date.now() / 1000);
      expect(await refusal(forged({}, { exp: now - 6 }))).toMatchObject({ status: 401, code: 'token_expired' });
      expect((await app.client().get(PATH, { headers: { Authorization: forged({}, { exp: now - 2 }) } })).status).toBe(
        200,
      );
    });
  });

  it('returns token_expired for a previously accepted token when its lifetime is over', async () => {
    const shortLived = await startApp({ ACCESS_TOKEN_TTL_SECONDS: '1' });
    try {
      const client = await shortLived.arrange.aClient(await shortLived.arrange.aWorkspace());
      expect((await client.get(PATH)).status).toBe(200);
      await new Promise((resolve) => setTimeout(resolve, 7_000));
      expect((await client.get(PATH)).body['code']).toBe('token_expired');
    } finally {
      await shortLived.stop();
    }
  });

  it('accepts a token of an instance whose clock is five minutes ahead', async () => {
    const now = Date.now.bind(Date);
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + 300_000);
    const early = await newToken().finally(() => clock.mockRestore());
    expect((await app.client(early).get(PATH)).status).toBe(200);
  });

  it('refuses a token issued before the clock was set back an hour, until the client gets a new one', async () => {
    const now = Date.now.bind(Date);
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + 3_600_000);
    const early = await newToken().finally(() => clock.mockRestore());
    expect(await refusal(`Bearer ${early}`)).toEqual(invalid);
    const next = await newToken();
    expect((await app.client(next).get(PATH)).status).toBe(200);
    expect(await refusal(`Bearer ${early}`)).toEqual(invalid);
  });

  it.each(['first', 'second'])('refuses two Authorization headers, though the %s is right', async (right) => {
    const found = await new Promise((resolve, reject) => {
      const sent = request({ port: app.port, host: '127.0.0.1', path: PATH }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => {
          const status = response.statusCode ?? 0;
          const { code } = JSON.parse(text) as { code?: unknown };
          resolve([status, code, oracle().faultsOf('GET', PATH, { status, headers: headersOf(response), text })]);
        });
      });
      const values = [`Bearer ${token}`, 'Bearer other'];
      sent.setHeader('Authorization', right === 'first' ? values : values.reverse());
      sent.on('error', reject);
      sent.end();
    });
    expect(found).toEqual([401, 'token_invalid', []]);
  });

  it('supersedes the previous token as soon as a new one is issued', async () => {
    const newer = await newToken();
    expect(await refusal(`Bearer ${token}`)).toMatchObject({ status: 401, code: 'token_superseded' });
    expect((await app.client(newer).get(PATH)).status).toBe(200);
  });

  it('keeps tokens of other applications of the workspace valid', async () => {
    const other = await app.arrange.aClient(workspace);
    await newToken();
    expect((await other.get(PATH)).status).toBe(200);
  });

  it('refuses tokens of an application as soon as it is disabled', async () => {
    await app.database.admin.query('UPDATE application SET disabled = true WHERE client_id = $1', [
      application.clientId,
    ]);
    expect(await refusal(`Bearer ${token}`)).toEqual(invalid);
  });

  describe('scopes', () => {
    const status = async (scope: string, path: string) => {
      const client = await app.arrange.aClient(workspace, [scope as 'all:read']);
      const response = await client.get(path);
      return {
        status: response.status,
        code: response.body['code'],
        challenge: response.headers.get('www-authenticate'),
      };
    };

    it.each([
      ['inventory:read', '/v1/inventory/assets', 200],
      ['inventory:read', '/v1/inventory/categories', 200],
      ['inventory:read', '/v1/computers', 403],
      ['computers:read', '/v1/computers', 200],
      ['computers:read', '/v1/inventory/assets', 403],
      ['computers:read', '/v1/inventory/categories', 403],
      ['all:read', '/v1/computers', 200],
      ['all:read', '/v1/inventory/assets', 200],
      ['all:write', '/v1/inventory/assets', 403],
      ['inventory:write', '/v1/inventory/assets', 403],
      ['frameworks:read', '/v1/computers', 403],
      ['frameworks:read', '/v1/me', 200],
    ])('%s on %s returns %i', async (scope, path, expected) => {
      expect((await status(scope, path)).status).toBe(expected);
    });

    it('names the missing scope in the challenge', async () => {
      expect(await status('inventory:read', '/v1/computers')).toEqual({
        status: 403,
        code: 'insufficient_scope',
        challenge: `Bearer realm="compliance-api", error="insufficient_scope", scope="computers:read", ${METADATA}`,
      });
    });

    it('checks the scope before id and query, so that it reveals nothing', async () => {
      expect((await status('inventory:read', '/v1/computers/not-a-uuid')).status).toBe(403);
      expect((await status('inventory:read', '/v1/computers?pageSize=0')).status).toBe(403);
      expect((await status('inventory:read', '/v1/computers?pageSize=%')).status).toBe(403);
    });

    it('enforces a removed scope on the next request', async () => {
      expect((await app.client(token).get(PATH)).status).toBe(200);
      await app.database.admin.query('UPDATE application SET scopes = $2 WHERE client_id = $1', [
        application.clientId,
        ['computers:read'],
      ]);
      const after = await app.client(token).get(PATH);
      expect([after.status, after.body['code']]).toEqual([403, 'insufficient_scope']);
    });
  });
});
