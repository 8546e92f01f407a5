import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { assertDocumented, headersOf } from '../contract/contract-oracle';
import { decodeJwt, decodeProtectedHeader } from '../support/jwt';
import { type ArrangedApplication } from '../support/arrangement';
import { type ApiResponse, ApiClient } from '../support/api-client';
import { type TestApp, startApp, startInstance } from '../support/start-app';

/** Resolves once a session of the API waits for a lock. */
async function aSessionWaits(admin: TestApp['database']['admin']): Promise<void> {
  for (let waiting = 0; waiting === 0; await delay(10)) {
    await admin.query('SELECT pg_stat_clear_snapshot()');
    const { rowCount } = await admin.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    waiting = rowCount ?? 0;
  }
}

describe('POST /oauth/token', () => {
  let app: TestApp;
  let workspace: string;
  let application: ArrangedApplication;
  let credentials: { grant_type: string; client_id: string; client_secret: string };

  beforeAll(async () => {
    app = await startApp();
    workspace = await app.arrange.aWorkspace();
  });
  afterAll(() => app.stop());
  beforeEach(async () => {
    application = await app.arrange.anApplication(workspace, ['inventory:read', 'computers:read']);
    credentials = {
      grant_type: 'client_credentials',
      client_id: application.clientId,
      client_secret: application.clientSecret,
    };
  });

  const basic = (id: string, secret: string) => ({
    Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
  });
  const expectProblem = (response: ApiResponse, status: number, code: string) => {
    expect([response.status, response.body['code']]).toEqual([status, code]);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const members = 'code detail instance requestId status title type error error_description'.split(' ');
    expect(Object.keys(response.body)).toEqual(expect.arrayContaining(members));
    // RFC 6749, 5.2.
    expect(response.body['error_description']).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
    expect(response.text).not.toContain(application.clientSecret);
  };

  /** Sends one Authorization header for each value; `fetch` would join them. */
  const requestTokenWith = (authorization: string[], form: object = { grant_type: 'client_credentials' }) =>
    new Promise<ApiResponse>((resolve, reject) => {
      const sent = request(`${app.origin}/oauth/token`, { method: 'POST' }, (response) => {
        text(response).then((body) => {
          const given = { status: response.statusCode ?? 0, headers: headersOf(response), text: body };
          assertDocumented('POST', '/oauth/token', given);
          resolve({ ...given, body: JSON.parse(body) as ApiResponse['body'] });
        }, reject);
      });
      sent.on('error', reject);
      sent.setHeader('Authorization', authorization);
      sent.setHeader('Content-Type', 'application/x-www-form-urlencoded');
      sent.end(new URLSearchParams({ ...form }).toString());
    });

  it('limits the damage of a broken application row to that application', async () => {
    const generation = 2n ** 53n;
    await app.arrange.change(workspace, 'UPDATE application SET generation = $2 WHERE client_id = $1', [
      application.clientId,
      generation,
    ]);
    expect((await app.client().requestToken(credentials)).status).toBe(500);
    const client = await app.arrange.aClient(workspace, ['inventory:read']);
    expect((await client.get('/v1/inventory/categories')).status).toBe(200);
  });

  describe('200', () => {
    it('issues an uncacheable bearer token with its lifetime and scopes', async () => {
      const response = await app.client().requestToken(credentials);
      expect(response.status).toBe(200);
      expect(response.body).toEqual({
        access_token: expect.any(String) as string,
        expires_in: 3600,
        token_type: 'Bearer',
        scope: 'inventory:read computers:read',
      });
      expect(response.headers.get('cache-control')).toBe('no-store');
    });

    it('signs an RS256 JWT of type at+jwt with the decided claims', async () => {
      const { body } = await app.client().requestToken(credentials);
      const token = body['access_token'] as string;
      expect(decodeProtectedHeader(token)).toEqual({ alg: 'RS256', typ: 'at+jwt', kid: expect.any(String) as string });
      const claims = decodeJwt(token);
      expect(claims).toMatchObject({
        iss: 'https://api.example.test',
        aud: 'https://api.example.test',
        sub: application.clientId,
        client_id: application.clientId,
        scope: 'inventory:read computers:read',
        workspace,
        jti: expect.any(String) as string,
        generation: expect.any(Number) as number,
      });
      expect((claims['exp'] as number) - (claims['iat'] as number)).toBe(3600);
      // Another instance, whose clock is behind, accepts it too.
      expect((claims['iat'] as number) - (claims['nbf'] as number)).toBe(300);
      // RSA-3072.
      expect(Buffer.from(token.split('.')[2] ?? '', 'base64url')).toHaveLength(384);
    });

    it('accepts credentials by HTTP Basic', async () => {
      const response = await app
        .client()
        .requestToken({ grant_type: 'client_credentials' }, basic(application.clientId, application.clientSecret));
      expect(response.status).toBe(200);
    });

    it.each([
      ['the same client_id', () => ({ client_id: credentials.client_id })],
      ['credentials without values', () => ({ client_id: '', client_secret: '' })],
    ])('accepts %s in the form beside HTTP Basic', async (_, beside) => {
      const form = { grant_type: 'client_credentials', ...beside() };
      const response = await app.client().requestToken(form, basic(application.clientId, application.clientSecret));
      expect(response.status).toBe(200);
    });

    it('accepts its own audience and a charset in the content type', async () => {
      const form = new URLSearchParams({ ...credentials, audience: 'https://api.example.test' }).toString();
      const response = await app.client().send('POST', '/oauth/token', {
        body: form,
        headers: { 'Content-Type': 'application/x-www-form-urlencoded; charset=UTF-8' },
      });
      expect(response.status).toBe(200);
    });

    it('uses the audience and lifetime of its settings', async () => {
      const settings = { TOKEN_AUDIENCE: 'urn:example:api', ACCESS_TOKEN_TTL_SECONDS: '60' };
      const other = await startInstance(app, settings);
      try {
        const request = (audience: string) => other.client().requestToken({ ...credentials, audience });
        const { body } = await request('urn:example:api');
        const token = body['access_token'] as string;
        const { aud, iss, exp, iat } = decodeJwt(token);
        expect([aud, iss]).toEqual(['urn:example:api', 'https://api.example.test']);
        expect([body['expires_in'], (exp as number) - (iat as number)]).toEqual([60, 60]);
        expect((await request('https://api.example.test')).body['code']).toBe('unsupported_audience');
        expect((await other.client(token).get('/v1/inventory/assets')).status).toBe(200);
        // From an instance with another audience.
        const foreign = (await app.client().requestToken(credentials)).body['access_token'] as string;
        expect((await other.client(foreign).get('/v1/inventory/assets')).body['code']).toBe('token_invalid');
      } finally {
        await other.stop();
      }
    });

    it('narrows the token to the requested scopes', async () => {
      const { body } = await app.client().requestToken({ ...credentials, scope: 'computers:read' });
      expect(body['scope']).toBe('computers:read');
      const client = new ApiClient(app.origin, body['access_token'] as string);
      expect((await client.get('/v1/computers')).status).toBe(200);
      expect((await client.get('/v1/inventory/assets')).status).toBe(403);
    });

    it('treats an empty scope as absent, and ignores Idempotency-Key and unknown parameters', async () => {
      const response = await app
        .client()
        .requestToken({ ...credentials, scope: '', resource: 'x' }, { 'Idempotency-Key': 'k' });
      expect(response.body['scope']).toBe('inventory:read computers:read');
    });

    it('narrows all:read to a single read scope', async () => {
      const { clientId, clientSecret } = await app.arrange.anApplication(workspace, ['all:read']);
      const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
      const { body } = await app.client().requestToken({ ...form, scope: 'inventory:read' });
      expect(body['scope']).toBe('inventory:read');
    });
  });

  describe('400', () => {
    it.each([
      ['grant_type missing', { grant_type: '' }, 'invalid_request'],
      ['another grant', { grant_type: 'password' }, 'unsupported_grant_type'],
      ['client_id missing', { client_id: '' }, 'invalid_request'],
      ['client_secret missing', { client_secret: '' }, 'invalid_request'],
      ['another audience', { audience: 'https://api.example.test/' }, 'unsupported_audience'],
      ['an empty audience', { audience: '' }, 'unsupported_audience'],
      ['an unknown scope', { scope: 'inventory:read everything' }, 'invalid_scope'],
      ['a scope not granted', { scope: 'inventory:write' }, 'invalid_scope'],
    ])('refuses %s', async (_, change, code) => {
      const response = await app.client().requestToken({ ...credentials, ...change });
      expectProblem(response, 400, code);
      expect(response.body['error']).toBe(code === 'unsupported_audience' ? 'invalid_target' : code);
      expect(response.headers.get('www-authenticate')).toBeNull();
    });

    it.each(['grant_type', 'client_id', 'client_secret'])('says that %s is required', async (name) => {
      const others = Object.entries(credentials).filter(([other]) => other !== name);
      for (const form of [{ ...credentials, [name]: '' }, Object.fromEntries(others)]) {
        const { body } = await app.client().requestToken(form);
        expect(body['errors']).toMatchObject([{ parameter: name, code: 'required' }]);
      }
    });

    it.each(['grant_type', 'client_id', 'client_secret', 'audience', 'scope'])(
      'refuses %s given twice',
      async (name) => {
        const form = new URLSearchParams(credentials);
        form.append(name, 'a');
        form.append(name, 'b');
        const response = await app.client().send('POST', '/oauth/token', { body: form });
        expectProblem(response, 400, 'invalid_request');
        expect(response.body['errors']).toEqual([expect.objectContaining({ parameter: name })]);
      },
    );

    it.each([
      ['the secret in the form and by Basic at once', (own: typeof credentials) => own],
      [
        'another client_id in the form than by Basic',
        () => ({ grant_type: 'client_credentials', client_id: 'ci_00000000000000000000000000000000' }),
      ],
    ])('refuses %s', async (_, form) => {
      const response = await app
        .client()
        .requestToken(form(credentials), basic(application.clientId, application.clientSecret));
      expectProblem(response, 400, 'invalid_request');
    });

    it.each(['first', 'second'])('refuses two Authorization headers, though the %s is right', async (right) => {
      const own = basic(application.clientId, application.clientSecret).Authorization;
      const sent = right === 'first' ? [own, 'Basic other'] : ['Basic other', own];

      const response = await requestTokenWith(sent);

      expectProblem(response, 400, 'invalid_request');
      expect(response.body).toMatchObject({
        error: 'invalid_request',
        errors: [{ header: 'Authorization', code: 'duplicated' }],
      });
      expect(response.headers.get('www-authenticate')).toBeNull();
    });

    it('refuses two Authorization headers beside credentials in the form', async () => {
      const response = await requestTokenWith(['Bearer one', 'Bearer other'], credentials);

      expectProblem(response, 400, 'invalid_request');
    });

    it.each([
      ['credentials in the query string', ''],
      ['credentials far back in the query string', '&'.repeat(1_000)],
      ['a query that cannot be read, in ASCII without quotes', '%C3%A9%22=%zz&'],
    ])('refuses %s', async (_, before) => {
      const target = `/oauth/token?${before}client_secret=${application.clientSecret}`;
      const response = await app.client().send('POST', target, { body: new URLSearchParams(credentials) });
      expectProblem(response, 400, 'invalid_request');
    });

    it.each([
      ['is long', 'x'.repeat(15_000), `The scope ${'x'.repeat(64)}... is unknown`],
      ['could be none', '"\\é', 'A scope is unknown'],
    ])('does not echo a scope that %s', async (_, scope, beginning) => {
      const response = await app.client().requestToken({ ...credentials, scope });
      expectProblem(response, 400, 'invalid_scope');
      expect(response.body['error_description']).toMatch(new RegExp(`^${beginning}`));
      expect(response.text.length).toBeLessThan(1_000);
    });
  });

  describe('401', () => {
    it('returns the same response for an unknown client, a wrong secret and a disabled application', async () => {
      const disabled = await app.arrange.anApplication(workspace);
      await app.database.admin.query('UPDATE application SET disabled = true WHERE client_id = $1', [
        disabled.clientId,
      ]);
      const responses = [
        await app.client().requestToken({ ...credentials, client_id: 'ci_00000000000000000000000000000000' }),
        await app.client().requestToken({ ...credentials, client_id: 'nul\u0000' }),
        await app.client().requestToken({ ...credentials, client_secret: `${application.clientSecret}x` }),
        await app.client().requestToken({
          ...credentials,
          client_id: disabled.clientId,
          client_secret: disabled.clientSecret,
        }),
      ];
      for (const response of responses) {
        expectProblem(response, 401, 'invalid_client');
        expect(response.headers.get('www-authenticate')).toBeNull();
      }
      const bodies = responses.map(({ body }) => ({ ...body, requestId: '' }));
      expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
    });

    it('sends a Basic challenge only to a client that used Basic', async () => {
      const response = await app.client().requestToken({ grant_type: 'client_credentials' }, basic('who', 'what'));
      expectProblem(response, 401, 'invalid_client');
      expect(response.headers.get('www-authenticate')).toMatch(/^Basic /);
    });

    it.each(['Basic', 'Basic !!!', `Basic ${Buffer.from('no colon').toString('base64')}`])(
      'refuses the malformed header %s',
      async (Authorization) => {
        const response = await app.client().requestToken({ grant_type: 'client_credentials' }, { Authorization });
        expectProblem(response, 401, 'invalid_client');
      },
    );

    it('accepts the previous secret only until its overlap ends', async () => {
      const { rows } = await app.database.admin.query<{ secret_digest: Buffer }>(
        'SELECT secret_digest FROM application WHERE client_id = $1',
        [application.clientId],
      );
      const rotate = (interval: string) =>
        app.database.admin.query(
          `UPDATE application SET secret_digest = $2, previous_secret_digest = $3,
             previous_secret_expires_at = now() + $4::interval WHERE client_id = $1`,
          [application.clientId, Buffer.alloc(32, 7), rows[0]?.secret_digest, interval],
        );
      await rotate('1 hour');
      expect((await app.client().requestToken(credentials)).status).toBe(200);
      await rotate('-1 second');
      expectProblem(await app.client().requestToken(credentials), 401, 'invalid_client');
    });
  });

  it('keeps the active token valid when a request fails', async () => {
    const { body } = await app.client().requestToken(credentials);
    const client = new ApiClient(app.origin, body['access_token'] as string);
    await app.client().requestToken({ ...credentials, client_secret: 'wrong' });
    await app.client().requestToken({ ...credentials, scope: 'inventory:write' });
    await app.client().requestToken({ ...credentials, audience: 'other' });
    expect((await client.get('/v1/computers')).status).toBe(200);
  });

  it.each([
    ['415 a JSON body', { body: '{}', headers: { 'Content-Type': 'application/json' } }, 415, 'unsupported_media_type'],
    ['415 no content type', { body: Buffer.from('grant_type=x') }, 415, 'unsupported_media_type'],
    [
      '415 a compressed body',
      { body: 'x', headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Encoding': 'gzip' } },
      415,
      'unsupported_media_type',
    ],
    [
      '413 a body over 16 KiB',
      { body: 'x'.repeat(16_385), headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
      413,
      'payload_too_large',
    ],
  ])('refuses %s', async (_, init, status, code) => {
    const response = await app.client().send('POST', '/oauth/token', init as RequestInit);
    expectProblem(response, status, code);
    expect(response.body['error']).toBe('invalid_request');
  });

  it('returns plain JSON to a client that accepts only application/json, like stock OAuth clients', async () => {
    const wrong = { ...credentials, client_secret: 'wrong' };
    const stock = await app.client().requestToken(wrong, { Accept: 'application/json' });
    expect(stock.headers.get('content-type')).toBe('application/json');
    expect(stock.body).toMatchObject({ error: 'invalid_client', code: 'invalid_client' });
    const both = await app.client().requestToken(wrong, { Accept: 'application/json, application/problem+json' });
    expect(both.headers.get('content-type')).toBe('application/problem+json');
  });

  it.each([
    ['application/json-seq', 'application/problem+json'],
    ['text/plain;x="application/json"', 'application/problem+json'],
    ['application/json, application/problem+json-seq', 'application/json'],
    ['text/plain, Application/JSON ;q=0.9', 'application/json'],
  ])('honours only complete media types: “Accept: %s” gets %s', async (Accept, mediaType) => {
    const response = await app.client().requestToken({ ...credentials, client_secret: 'wrong' }, { Accept });
    expect([response.status, response.headers.get('content-type')]).toEqual([401, mediaType]);
  });

  it('leaves exactly one token valid after fifty concurrent requests', async () => {
    const responses = await Promise.all(Array.from({ length: 50 }, () => app.client().requestToken(credentials)));
    expect(responses.map(({ status }) => status)).toEqual(Array<number>(50).fill(200));
    const checks = await Promise.all(
      responses.map(({ body }) => new ApiClient(app.origin, body['access_token'] as string).get('/v1/computers')),
    );
    expect(checks.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const check of checks.filter(({ status }) => status !== 200)) {
      expect([check.status, check.body['code']]).toEqual([401, 'token_superseded']);
    }
  });

  it('takes one connection for all requests of an application that wait, so others go on', async () => {
    const other = await app.arrange.anApplication(workspace, ['inventory:read']);
    const { admin } = app.database;
    await admin.query('BEGIN');
    await admin.query('SELECT FROM application WHERE client_id = $1 FOR UPDATE', [application.clientId]);
    const requests = Array.from({ length: 30 }, () => app.client().requestToken(credentials));
    await aSessionWaits(admin);

    const { status } = await app.client().requestToken({
      ...{ grant_type: 'client_credentials', client_id: other.clientId, client_secret: other.clientSecret },
    });
    await admin.query('SELECT pg_stat_clear_snapshot()');
    const waiting = await admin.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    await admin.query('COMMIT');

    expect([status, waiting.rowCount]).toEqual([200, 1]);
    expect((await Promise.all(requests)).map((one) => one.status)).toEqual(requests.map(() => 200));
  });

  it.each([
    ['the secret is rotated', `secret_digest = decode(repeat('00', 32), 'hex')`],
    ['the application is disabled', 'disabled = true'],
  ])('issues no token when %s after the look-up', async (_, change) => {
    const { admin } = app.database;
    await admin.query('BEGIN');
    await admin.query(`UPDATE application SET ${change} WHERE client_id = $1`, [application.clientId]);

    const request = app.client().requestToken(credentials);
    await aSessionWaits(admin);
    await admin.query('COMMIT');

    expect((await request).body['code']).toBe('invalid_client');
  });

  it('never writes secrets or tokens into the log', async () => {
    const { body } = await app.client().requestToken(credentials);
    await app.client(body['access_token'] as string).get('/v1/computers?pageCursor=secret-cursor');
    const log = JSON.stringify(app.logLines);
    expect(log).toContain(application.clientId);
    expect(log).not.toContain(application.clientSecret);
    expect(log).not.toContain(body['access_token']);
    expect(log).not.toContain('secret-cursor');
  });
});
