import { request } from 'node:http';
import fc from 'fast-check';
import { assertDocumented, headersOf } from '../contract/contract-oracle';
import { type TestApp, startApp } from '../support/start-app';

const RUNS = 600;

/** Any input gets a documented response, never a 500, and every refusal is a problem. */
describe('Hostile requests', () => {
  let app: TestApp;
  let token: string;

  beforeAll(async () => {
    app = await startApp();
    token = await app.arrange.aToken(await app.arrange.aWorkspace());
  });
  afterAll(() => app.stop());

  interface ApiResponse {
    readonly status: number;
    readonly type: string;
    readonly body: string;
  }
  const send = (method: string, path: string, headers: Record<string, string>, body: string): Promise<ApiResponse> =>
    new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port: app.port, method, path, headers }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => {
          const status = response.statusCode ?? 0;
          try {
            assertDocumented(method, path, { status, headers: headersOf(response), text });
            resolve({ status, type: response.headers['content-type'] ?? '', body: text });
          } catch (undocumented) {
            reject(undocumented as Error);
          }
        });
      });
      sent.on('error', reject);
      sent.end(body);
    });

  const text = fc.oneof(
    fc.string({ maxLength: 40 }),
    fc.string({ maxLength: 20, unit: 'binary' }),
    fc.constantFrom(
      '\u0000',
      "' OR 1=1 --",
      '../../etc/passwd',
      '%',
      '%00',
      '%ff',
      '\ud800',
      'null',
      '-1',
      '1e9',
      '{}',
      '[]',
      '💥',
      'true',
      '0',
    ),
  );
  const encode = (value: string): string => {
    try {
      return encodeURIComponent(value);
    } catch {
      return '%ED%A0%80';
    }
  };
  const parameter = fc.constantFrom(
    'pageSize',
    'pageCursor',
    'categoryKey',
    'subKey',
    'hasOwner',
    'classification',
    '__proto__',
    'x[]',
  );
  const path = fc.oneof(
    fc.constantFrom(
      '/v1/inventory/assets',
      '/v1/inventory/categories',
      '/v1/computers',
      '/v1/health',
      '/v1/me',
      '/v1/inventory/tag-keys',
      '/.well-known/jwks.json',
      '/.well-known/oauth-authorization-server',
      '/oauth/token',
      '/problems',
      '/docs',
    ),
    text.map((id) => `/v1/inventory/assets/${encode(id)}`),
    text.map((id) => `/v1/computers/${encode(id)}`),
    text.map((id) => `/problems/${encode(id)}`),
    text.map((any) => `/${encode(any)}`),
    fc.string({ maxLength: 20 }).map((any) => `/${any.replace(/[^!-~]/g, '')}`),
  );
  const query = fc.array(fc.tuple(fc.oneof(parameter, text), text), { maxLength: 3 }).map((pairs) => {
    const joined = pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
    return joined === '' ? '' : `?${joined}`;
  });
  const header = fc.constantFrom(
    'X-Request-Id',
    'Accept',
    'Content-Type',
    'Idempotency-Key',
    'If-Match',
    'Content-Encoding',
    'Range',
    'Expect',
    'Upgrade',
  );
  const headerValue = fc.oneof(
    fc.string({ maxLength: 40 }).map((value) => value.replace(/[^ -~]/g, '')),
    fc.constantFrom(
      'application/json',
      'application/x-www-form-urlencoded',
      'text/html',
      'gzip',
      'bytes=0-',
      '100-continue',
      '*',
    ),
  );
  const headers = fc.array(fc.tuple(header, headerValue), { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs));
  const authorization = fc.constantFrom('', 'valid', 'valid', 'Bearer x', 'Basic eDp5', 'Bearer', 'Digest a');

  it(`get a documented response, in ${RUNS} runs`, async () => {
    const statuses = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'GET', 'GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS', 'HEAD'),
        path,
        query,
        headers,
        authorization,
        text,
        async (method, where, search, sentHeaders, who, body) => {
          const all: Record<string, string> = { ...sentHeaders };
          if (who !== '') all['Authorization'] = who === 'valid' ? `Bearer ${token}` : who;
          const bytes = method === 'GET' || method === 'HEAD' ? '' : body;
          // Node sends the body of a DELETE or OPTIONS only with an explicit length.
          all['Content-Length'] = String(Buffer.byteLength(bytes));
          const response = await send(
            method,
            `${where}${search}`,
            all,
            method === 'GET' || method === 'HEAD' ? '' : body,
          );
          statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
          expect(response.status).toBeLessThan(500);
          if (response.status < 400 || method === 'HEAD') return;
          expect(response.type).toMatch(/^application\/(problem\+)?json$/);
          expect(JSON.parse(response.body)).toMatchObject({
            status: response.status,
            code: expect.any(String) as string,
          });
        },
      ),
      { numRuns: RUNS },
    );
    // Checks that the generator covers these cases.
    for (const status of [200, 400, 401, 404, 405])
      expect([status, (statuses.get(status) ?? 0) > 10]).toEqual([status, true]);
  });
});
