import { connect } from 'node:net';
import { ERROR_CODES } from '#libs/kernel';
import { PROBLEMS } from '#libs/platform/problems';
import { oracle } from '../contract/contract-oracle';
import { type TestApp, startApp } from '../support/start-app';

describe('Problems', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());

  /** Sends raw bytes and returns everything the server sends until it closes. */
  const raw = (bytes: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(app.port, '127.0.0.1', () => socket.write(bytes));
      let said = '';
      socket.on('data', (chunk: Buffer) => (said += chunk.toString()));
      socket.on('close', () => resolve(said));
      socket.on('error', reject);
    });

  it('have the seven members, and instance is the path without its query', async () => {
    const response = await app.client().get('/v1/inventory/assets?pageSize=1&x=y');
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(response.body).toEqual({
      type: 'https://api.example.test/problems/token_missing',
      title: 'Unauthorized',
      status: 401,
      code: 'token_missing',
      detail: 'A bearer token is required.',
      instance: '/v1/inventory/assets',
      requestId: response.headers.get('x-request-id'),
    });
  });

  it("have a short detail, however many and long the client's names are", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `${index}`.padStart(68, 'x'));
    const response = await app.client().get(`/v1/health?${names.map((name) => `${name}=1`).join('&')}`);
    expect([response.status, (response.body['errors'] as unknown[]).length]).toEqual([400, 20]);
    expect((response.body['detail'] as string).length).toBeLessThanOrEqual(1_000);
  });

  describe('request ids', () => {
    it('return a well-formed inbound id in the response and the log', async () => {
      const response = await app.client().get('/nope', { headers: { 'X-Request-Id': 'abc-DEF_1.2' } });
      expect(response.body['requestId']).toBe('abc-DEF_1.2');
      expect(response.headers.get('x-request-id')).toBe('abc-DEF_1.2');
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(app.logLines).toContainEqual(
        expect.objectContaining({ requestId: 'abc-DEF_1.2', status: 404, code: 'not_found' }),
      );
    });

    it.each(['a b', 'x'.repeat(65), 'ä', '<script>', '', `cs_${'a'.repeat(49)}`])(
      'replace the inbound id %j',
      async (sent) => {
        const response = await app.client().get('/v1/health', { headers: { 'X-Request-Id': sent } });
        expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
      },
    );
  });

  describe('404 and 405', () => {
    it.each([
      '/',
      '/v1',
      '/v1/',
      '/v2/health',
      '/v1/health/',
      '/V1/health',
      '/v1//health',
      '/v1/inventory',
      '/docs-json',
      '/docs/LICENSE',
      '/docs/nope',
      '/metrics',
      '/livez',
      '/readyz',
      '/jwks.json',
      '/api',
      '/problems/unknown_code',
      '/%ZZ',
    ])('return not_found for the unknown path %s', async (path) => {
      const response = await app.client().get(path);
      expect([response.status, response.body['code']]).toEqual([404, 'not_found']);
      expect(response.body['instance']).toBe(path);
    });

    it.each([
      ['POST', '/v1/health', 'GET, HEAD'],
      ['GET', '/oauth/token', 'POST'],
      ['DELETE', '/v1/computers', 'GET, HEAD'],
      ['PUT', '/v1/computers/x', 'GET, HEAD'],
      ['OPTIONS', '/v1/computers', 'GET, HEAD'],
      ['OPTIONS', '/oauth/token', 'POST'],
      ['POST', '/v1/inventory/categories', 'GET, HEAD'],
      ['POST', '/problems', 'GET, HEAD'],
    ])('return method_not_allowed with Allow for %s %s, before they check a token', async (method, path, allow) => {
      const response = await app.client('not a token').send(method, path);
      expect([response.status, response.body['code'], response.headers.get('allow')]).toEqual([
        405,
        'method_not_allowed',
        allow,
      ]);
    });

    it('have no CORS header', async () => {
      const response = await app
        .client()
        .send('OPTIONS', '/v1/computers', { headers: { Origin: 'https://evil.example' } });
      expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    });
  });

  it('are returned without reading an anonymous body', async () => {
    const response = await app
      .client()
      .send('POST', '/v1/computers', { body: '{"broken', headers: { 'Content-Type': 'application/json' } });
    expect(response.status).toBe(405);
  });

  describe('from the HTTP parser', () => {
    it.each([
      ['a malformed request line', 'NOT HTTP\r\n\r\n', 400, 'validation_failed'],
      ['no Host', 'GET /v1/health HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'validation_failed'],
      ['two Hosts', 'GET /v1/health HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n', 400, 'validation_failed'],
      ...['a b', 'a/b', 'a@b', '[::1', 'a:b', '%zz', 'ä'].map((host): [string, string, number, string] => [
        `the Host ${host}`,
        `GET /v1/health HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
        400,
        'validation_failed',
      ]),
      [
        'HTTP/1.0 in chunks',
        'POST /oauth/token HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na=b\r\n0\r\n\r\n',
        400,
        'validation_failed',
      ],
      [
        'too large a header block',
        `GET /v1/health HTTP/1.1\r\nHost: a\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`,
        431,
        'headers_too_large',
      ],
      [
        'too many headers',
        `GET /v1/health HTTP/1.1\r\nHost: a\r\n${'a:b\r\n'.repeat(200)}\r\n`,
        431,
        'headers_too_large',
      ],
      ['a CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 404, 'not_found'],
      [
        'a malformed length',
        'POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n',
        400,
        'validation_failed',
      ],
      [
        'two lengths that differ',
        'POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello',
        400,
        'validation_failed',
      ],
    ])('return %s', async (_, bytes, status, code) => {
      const said = await raw(bytes);
      const [head = '', body = ''] = said.split('\r\n\r\n');
      expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(head.toLowerCase()).toContain('content-type: application/problem+json');
      expect(head.toLowerCase()).toContain('x-request-id: ');
      expect(JSON.parse(body)).toMatchObject({ status, code });
      const headers = new Headers(
        head
          .split('\r\n')
          .slice(1)
          .map((line) => line.split(': ', 2) as [string, string]),
      );
      expect(oracle().faultsOfRefusal({ status, headers, text: body })).toEqual([]);
    });

    it('accept transfer codings in any case', async () => {
      const said = await raw(
        'POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n' +
          'Content-Encoding: Identity\r\nTransfer-Encoding: Chunked\r\nConnection: close\r\n\r\n3\r\na=b\r\n0\r\n\r\n',
      );
      expect(said).toMatch(/^HTTP\/1.1 400 [^]*"code":"invalid_request"/);
    });

    it.each(['api.example.test', 'api.example.test:443', '127.0.0.1:3000', '[::1]:3000', 'a_b.test', ''])(
      'accept the Host “%s”',
      async (host) => {
        const said = await raw(`GET /v1/health HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
        expect(said).toMatch(/^HTTP\/1.1 200 /);
      },
    );

    it('accept two hundred headers', async () => {
      const headers = `Host: a\r\nConnection: close\r\n${'a:b\r\n'.repeat(198)}`;
      expect(await raw(`GET /v1/health HTTP/1.1\r\n${headers}\r\n`)).toMatch(/^HTTP\/1.1 200 /);
    });

    it('send nothing before the response to an HTTP/1.0 client', async () => {
      const said = await raw(
        'POST /oauth/token HTTP/1.0\r\nContent-Type: application/x-www-form-urlencoded\r\n' +
          'Expect: 100-continue\r\nContent-Length: 3\r\n\r\na=b',
      );
      expect(said).toMatch(/^HTTP\/1.1 400 /);
    });

    it('accept an absolute target and ignore an unknown expectation', async () => {
      const absolute = await raw(
        'GET http://api.example.test/v1/health HTTP/1.1\r\nHost: api.example.test\r\nConnection: close\r\n\r\n',
      );
      expect(absolute).toMatch(/^HTTP\/1.1 200 /);
      const expecting = await raw('GET /v1/health HTTP/1.1\r\nHost: a\r\nExpect: magic\r\nConnection: close\r\n\r\n');
      expect(expecting).toMatch(/^HTTP\/1.1 200 /);
    });
  });

  it.each([
    ['http://user:geheim@api.example.test/v1/nope?x=1', '/v1/nope'],
    ['HTTPS://user:geheim@api.example.test?x=1', '/'],
    ['ftp://user:geheim@api.example.test/v1/nope', '/v1/nope'],
    ['/v1\\health?#geheim', '/v1\\health'],
  ])('show only the path of the target %s', async (target, path) => {
    const said = await raw(`GET ${target} HTTP/1.1\r\nHost: api.example.test\r\nConnection: close\r\n\r\n`);
    expect(said).toMatch(/^HTTP\/1.1 404 /);
    expect(JSON.parse(said.slice(said.indexOf('{')))).toMatchObject({ code: 'not_found', instance: path });
    expect(said + JSON.stringify(app.logLines)).not.toContain('geheim');
  });

  describe('pages', () => {
    it.each(ERROR_CODES.map((code) => [code]))('return %s at the address that its problem names', async (code) => {
      const program = await app.client().get(`/problems/${code}`);
      expect(program.status).toBe(200);
      expect(program.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(program.body).toMatchObject({
        type: `https://api.example.test/problems/${code}`,
        code,
        status: PROBLEMS[code].status,
        cause: expect.stringMatching(/\w/) as string,
        remedy: expect.stringMatching(/\w/) as string,
        example: { code, status: PROBLEMS[code].status, ...PROBLEMS[code].example },
      });
      const person = await app.client().get(`/problems/${code}`, { headers: { Accept: 'text/html,*/*;q=0.8' } });
      expect(person.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(person.text).toContain(`<code>${code}</code>`);
    });

    it('list every code', async () => {
      const { body } = await app.client().get('/problems');
      expect((body['problems'] as { code: string }[]).map(({ code }) => code)).toEqual(ERROR_CODES);
      const person = await app.client().get('/problems', { headers: { Accept: 'text/html' } });
      // Relative: the base URL may have a path that a proxy takes away.
      for (const code of ERROR_CODES) expect(person.text).toContain(`href="problems/${code}"`);
      expect(person.text).not.toMatch(/href="\//);
    });

    it.each([
      ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html; charset=utf-8'],
      ['text/html', 'text/html; charset=utf-8'],
      ['*/*', 'application/json; charset=utf-8'],
      ['application/json', 'application/json; charset=utf-8'],
      ['application/problem+json', 'application/json; charset=utf-8'],
      ['application/json, text/html;q=0.5', 'application/json; charset=utf-8'],
      ['text/html;q=0, */*', 'application/json; charset=utf-8'],
      ['image/png', 'application/json; charset=utf-8'],
    ])('treat “Accept: %s” as a wish for %s', async (accept, type) => {
      for (const path of ['/problems', '/problems/not_found']) {
        const { headers } = await app.client().get(path, { headers: { Accept: accept } });
        expect([path, headers.get('content-type'), headers.get('vary')]).toEqual([path, type, 'Accept']);
      }
    });

    it('are cached for an hour, load nothing from elsewhere, and accept HEAD', async () => {
      for (const path of ['/problems', '/problems/rate_limited']) {
        const page = await app.client().get(path, { headers: { Accept: 'text/html' } });
        expect(page.headers.get('cache-control')).toBe('public, max-age=3600');
        expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
        const head = await app.client().send('HEAD', path, { headers: { Accept: 'text/html' } });
        expect([head.status, head.text, head.headers.get('content-type'), head.headers.get('content-length')]).toEqual([
          200,
          '',
          page.headers.get('content-type'),
          String(Buffer.byteLength(page.text)),
        ]);
      }
    });

    it('return an uncacheable problem for an unknown code, also to browsers', async () => {
      const response = await app.client().get('/problems/unknown_code', { headers: { Accept: 'text/html' } });
      expect([response.status, response.body['code']]).toEqual([404, 'not_found']);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.get('content-type')).toBe('application/problem+json');
    });

    it('show the example of the contract', async () => {
      const contract = (
        await app.client().get<{ components: { examples: Record<string, { value: object }> } }>('/docs/openapi.json')
      ).body;
      // No operation of the contract has this code, which stands for a missing method.
      for (const code of ERROR_CODES.filter((one) => one !== 'method_not_allowed')) {
        const { body } = await app.client().get(`/problems/${code}`);
        const { [code]: shown, [`issueToken.${code}`]: ofToken } = contract.components.examples;
        expect((shown ?? ofToken)?.value).toMatchObject(body['example'] as object);
      }
    });
  });
});
