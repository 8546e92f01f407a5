import { type IncomingMessage, request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { type TestApp, startApp } from '../support/start-app';

const ASSETS = '/v1/inventory/assets';
/** Its last page, so that it has no cursor, which is different each time. */
const LARGE_PAGE = `${ASSETS}?pageSize=100`;

interface Received {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: Buffer;
}

describe('Compression', () => {
  let app: TestApp;
  let token: string;
  let id: string;

  beforeAll(async () => {
    app = await startApp();
    const workspace = await app.arrange.aWorkspace();
    await app.arrange.manyAssets(workspace, 30);
    id = (await app.arrange.anAsset(workspace, { type: 'COMPUTER', name: 'x'.repeat(2_000) })).id;
    token = await app.arrange.aToken(workspace);
  });
  afterAll(() => app.stop());

  /** Unlike fetch, Node's client adds no Accept-Encoding. */
  const ask = (
    path: string,
    acceptEncoding: string | undefined,
    { method = 'GET', body = '', headers = {} }: { method?: string; body?: string; headers?: object } = {},
  ): Promise<Received> =>
    new Promise((resolve, reject) => {
      const sent = request(app.origin + path, { method });
      sent.setHeader('Authorization', `Bearer ${token}`);
      for (const [name, value] of Object.entries(headers)) sent.setHeader(name, String(value));
      if (acceptEncoding !== undefined) sent.setHeader('Accept-Encoding', acceptEncoding);
      sent.once('error', reject);
      sent.once('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) }),
        );
      });
      sent.end(body);
    });

  it.each([ASSETS, '/v1/computers', '/v1/inventory/changes', '/v1/computers/changes'])(
    'compresses a page of %s without changing its content',
    async (path) => {
      const plain = await ask(path, undefined);
      const compressed = await ask(path, 'gzip');

      expect(plain.headers['content-encoding']).toBeUndefined();
      expect(compressed.headers['content-encoding']).toBe('gzip');
      expect(compressed.bytes.length).toBeLessThan(plain.bytes.length);
      const pages = [plain.bytes, gunzipSync(compressed.bytes)].map(
        (bytes) => (JSON.parse(bytes.toString()) as { results: unknown }).results,
      );
      expect(pages[1]).toEqual(pages[0]);
    },
  );

  it('compresses a page of megabytes without changing its content', async () => {
    const workspace = await app.arrange.aWorkspace();
    await app.arrange.manyAssets(workspace, 100, 20_000);
    const own = token;
    token = await app.arrange.aToken(workspace);
    const [plain, compressed] = [await ask(LARGE_PAGE, undefined), await ask(LARGE_PAGE, 'gzip')];
    token = own;

    expect([plain.headers['content-encoding'], compressed.headers['content-encoding']]).toEqual([undefined, 'gzip']);
    expect(plain.bytes.length).toBeGreaterThan(2_000_000);
    expect(plain.headers['content-length']).toBe(String(plain.bytes.length));
    expect(gunzipSync(compressed.bytes).equals(plain.bytes)).toBe(true);
  });

  it.each([
    ['gzip', true],
    ['GZIP', true],
    ['*', true],
    ['br, gzip;q=0.8', true],
    ['deflate, *;q=0.1, identity;q=0', true],
    ['gzip;q=0', false],
    ['gzip;q=0, *', false],
    ['*;q=0', false],
    ['identity', false],
    ['identity, gzip;q=0.5', false],
    ['br', false],
    ['', false],
    ['gzip;q=what', false],
    ['gzipped', false],
    [',;,=;q', false],
  ])('follows Accept-Encoding: %s', async (acceptEncoding, isCompressed) => {
    const { status, headers } = await ask(ASSETS, acceptEncoding);

    expect({ status, encoding: headers['content-encoding'], vary: headers.vary }).toEqual({
      status: 200,
      encoding: isCompressed ? 'gzip' : undefined,
      vary: expect.stringMatching(/\bAccept-Encoding\b/) as string,
    });
  });

  it('handles a very long Accept-Encoding quickly', async () => {
    const { status, headers } = await ask(ASSETS, `${'a;q=1,'.repeat(2_000)}b`);

    expect([status, headers['content-encoding']]).toEqual([200, undefined]);
  });

  it('sends a list below 1 kB uncompressed, with Vary', async () => {
    const { headers, bytes } = await ask('/v1/inventory/categories', 'gzip');

    expect(bytes.length).toBeLessThan(1_000);
    expect(headers).toMatchObject({ vary: 'Accept-Encoding' });
    expect(headers['content-encoding']).toBeUndefined();
  });

  it.each([
    '/v1/inventory/assets?pageSize=1',
    '/v1/computers?pageSize=1',
    '/v1/inventory/changes?pageSize=1',
    '/v1/inventory/tag-keys?pageSize=1',
    '/v1/audit-events?pageSize=1',
    '/v1/inventory/assets/{id}',
    '/v1/computers/{id}',
    '/v1/me',
  ])('makes no body for HEAD of %s, and returns the other headers of GET', async (path) => {
    const query = path.replace('{id}', id);
    const [get, head] = [await ask(query, 'gzip'), await ask(query, 'gzip', { method: 'HEAD' })];

    const { 'content-type': type, vary, etag } = get.headers;
    expect([get.status, head.status]).toEqual([200, 200]);
    expect(head.headers).toMatchObject({ 'content-type': type, ...(vary && { vary }), ...(etag && { etag }) });
    expect('link' in head.headers).toBe('link' in get.headers);
    expect(head.headers).not.toHaveProperty('content-length');
    expect(head.headers).not.toHaveProperty('content-encoding');
    expect(head.bytes).toHaveLength(0);
  });

  it('refuses a HEAD of a list as it refuses the GET', async () => {
    const { status } = await ask(`${ASSETS}?pageCursor=wrong`, 'gzip', { method: 'HEAD' });

    expect(status).toBe(400);
  });

  it('leaves single assets, computers, updates, tokens, problems and documents uncompressed', async () => {
    const asset = await ask(`${ASSETS}/${id}`, 'gzip');
    const json = { 'Content-Type': 'application/json', 'Idempotency-Key': 'compression' };
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const others = [
      asset,
      await ask(`/v1/computers/${id}`, 'gzip'),
      await ask(`${ASSETS}/${id}`, 'gzip', { method: 'PATCH', body: '{"description":"a"}', headers: json }),
      await ask('/oauth/token', 'gzip', { method: 'POST', body: 'grant_type=none', headers: form }),
      await ask(`${ASSETS}?${'a'.repeat(2_000)}=1`, 'gzip'),
      await ask('/docs/openapi.json', 'gzip'),
    ];

    expect(asset.bytes.length).toBeGreaterThan(1_000);
    expect(others.map(({ headers }) => headers['content-encoding'])).toEqual(others.map(() => undefined));
  });
});
