import type { Scope } from '#libs/kernel';
import { GrantRepositoryTypeorm } from '../../libs/auth/src/typeorm/grant-repository.typeorm';
import type { ApiClient } from '../support/api-client';
import { decodeJwt } from '../support/jwt';
import { type TestOperator, openOperator } from '../support/operator';
import { SPECIFIED_LIMITS, type TestApp, startApp } from '../support/start-app';
import { startTemporaryRedis } from '../support/temporary-redis';
import { type TemporaryRedis } from '../support/temporary-redis.port';

const PATH = '/v1/me';

let redis: TemporaryRedis;
beforeAll(async () => {
  redis = await startTemporaryRedis();
});
afterAll(() => redis.stop());

describe.each([
  ['with Redis', () => ({ REDIS_URL: redis.url })],
  ['without Redis', () => ({})],
])('GET /v1/me, %s', (_, settings: () => Record<string, string>) => {
  let app: TestApp;
  let workspace: string;
  let operator: TestOperator;

  beforeAll(async () => {
    app = await startApp({ ...SPECIFIED_LIMITS, ...settings() });
    operator = await openOperator(app);
  });
  afterAll(async () => {
    await operator.close();
    await app.stop();
  });
  beforeEach(async () => {
    workspace = await app.arrange.aWorkspace();
  });

  const tokenOf = async (
    application: { readonly clientId: string; readonly clientSecret: string },
    scope = '',
  ): Promise<string> => {
    const credentials = { client_id: application.clientId, client_secret: application.clientSecret };
    const { body } = await app
      .client()
      .requestToken({ grant_type: 'client_credentials', ...credentials, ...(scope ? { scope } : {}) });
    return body['access_token'] as string;
  };
  /** An application whose buckets are not refilled during a test, however slow the machine. */
  const aSlowApplication = async (scopes?: readonly Scope[]) => {
    const application = await app.arrange.anApplication(workspace, scopes);
    const slow = { perMinute: 1, burst: 9 };
    await operator.applications.setLimits(application.clientId, { read: slow, write: slow, token: slow });
    return application;
  };
  const remaining = async (client: ApiClient) => {
    const { body } = await client.get<{ limits: Record<string, { remaining: number }> }>(PATH);
    return Object.fromEntries(Object.entries(body.limits).map(([name, limit]) => [name, limit.remaining]));
  };

  it('returns 401 with a challenge when the application is deleted meanwhile', async () => {
    const application = await app.arrange.anApplication(workspace);
    const token = await tokenOf(application);
    jest.spyOn(GrantRepositoryTypeorm.prototype, 'findWithWorkspace').mockResolvedValueOnce(null);

    const response = await app.client(token).get(PATH);

    expect([response.status, response.body]).toMatchObject([401, { code: 'token_invalid' }]);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer .*error="invalid_token"/);
  });

  it('returns workspace, application, token, granted scopes and limits', async () => {
    const application = await app.arrange.anApplication(workspace, ['inventory:read', 'inventory:write']);
    const token = await tokenOf(application, 'inventory:read');
    const { rows } = await app.database.admin.query<{ id: string; name: string; slug: string }>(
      'SELECT application.id, application.name, slug FROM application JOIN workspace ON workspace.id = workspace_id WHERE client_id = $1',
      [application.clientId],
    );
    const { iat, exp } = decodeJwt(token) as { iat: number; exp: number };

    const { status, body } = await app.client(token).get(PATH);

    expect(status).toBe(200);
    expect(body).toEqual({
      workspace: { id: workspace, slug: rows[0]?.slug },
      application: { id: rows[0]?.id, clientId: application.clientId, name: rows[0]?.name },
      token: {
        issuedAt: new Date(iat * 1000).toISOString(),
        expiresAt: new Date(exp * 1000).toISOString(),
        scopes: ['inventory:read'],
      },
      grantedScopes: ['inventory:read', 'inventory:write'],
      limits: {
        read: { burst: 100, perMinute: 50, remaining: expect.any(Number) as number },
        write: { burst: 40, perMinute: 20, remaining: expect.any(Number) as number },
        token: { burst: 10, perMinute: 5, remaining: expect.any(Number) as number },
      },
    });
  });

  it.each<[string, readonly Scope[]]>([
    ['a scope that no endpoint uses', ['frameworks:read']],
    ['write scopes only', ['all:write']],
    ['no scope at all', []],
  ])('accepts a token with %s', async (__, scopes) => {
    const client = await app.arrange.aClient(workspace, scopes);

    const { status, body } = await client.get(PATH);

    expect([status, body['grantedScopes'], (body['token'] as { scopes: unknown }).scopes]).toEqual([
      200,
      scopes,
      scopes,
    ]);
  });

  it('refuses a request without a token, and one with a superseded token', async () => {
    const application = await app.arrange.anApplication(workspace);
    const superseded = await tokenOf(application);
    await tokenOf(application);

    expect((await app.client().get(PATH)).body['code']).toBe('token_missing');
    expect((await app.client(superseded).get(PATH)).body['code']).toBe('token_superseded');
  });

  it('charges the read bucket only', async () => {
    const application = await aSlowApplication();
    const client = app.client(await tokenOf(application));

    expect(await remaining(client)).toEqual({ read: 8, write: 9, token: 8 });
    expect(await remaining(client)).toEqual({ read: 7, write: 9, token: 8 });
    await client.patch('/v1/inventory/assets', {});
    expect(await remaining(client)).toEqual({ read: 6, write: 8, token: 8 });
    const { headers } = await client.get(PATH);
    expect([headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')]).toEqual(['9', '5']);
  });

  it('shows an empty bucket, and a smaller limit from the next request on', async () => {
    const application = await aSlowApplication();
    const client = app.client(await tokenOf(application));
    for (let request = 0; request < 9; request += 1) await client.patch('/v1/inventory/assets', {});
    expect(await remaining(client)).toMatchObject({ write: 0 });

    await operator.applications.setLimits(application.clientId, { token: { perMinute: 1, burst: 3 } });

    const { body } = await client.get(PATH);
    expect(body['limits']).toMatchObject({ token: { burst: 3, perMinute: 1, remaining: 2 } });
  });

  it("shows a removed scope's absence from the next request on", async () => {
    const application = await app.arrange.anApplication(workspace, ['inventory:read', 'computers:read']);
    const client = app.client(await tokenOf(application));

    await operator.applications.setScopes(application.clientId, ['computers:read']);

    const { body } = await client.get(PATH);
    expect(body).toMatchObject({ grantedScopes: ['computers:read'], token: { scopes: ['computers:read'] } });
  });

  it('refuses every parameter', async () => {
    const client = await app.arrange.aClient(workspace);
    const { status, body } = await client.get(`${PATH}?verbose=true`);
    expect([status, body['code']]).toEqual([400, 'validation_failed']);
  });
});
