import { readContract } from '../contract/contract-document';
import { CONTRACT_FILE } from '../contract/contract-files';
import { type TestApp, startApp } from '../support/start-app';

interface Contract {
  readonly openapi: string;
  readonly info: { readonly version: string; readonly description: string };
  readonly paths: Record<
    string,
    Record<string, { operationId?: string; responses: Record<string, unknown>; security?: object[] }>
  >;
  readonly components: { readonly securitySchemes: Record<string, unknown>; readonly schemas: Record<string, unknown> };
}

describe('GET /docs', () => {
  let app: TestApp;
  let contract: Contract;
  beforeAll(async () => {
    app = await startApp();
    contract = (await app.client().get<Contract>('/docs/openapi.json')).body;
  });
  afterAll(() => app.stop());

  it('returns Swagger UI, and every part loads from the same origin', async () => {
    const page = await app.client().get('/docs');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = page.headers.get('content-security-policy');
    expect(policy).toMatch(/^default-src 'none';script-src 'self';style-src 'self';/);
    expect(policy).not.toMatch(/unsafe|https?:|\*|upgrade-insecure-requests/);
    const parts = [...page.text.matchAll(/(?:src|href)="\.\/(docs\/[^"]+)"/g)].map(([, part]) => part as string);
    expect(parts.length).toBeGreaterThanOrEqual(4);
    for (const part of parts) expect([part, (await app.client().get(`/${part}`)).status]).toEqual([part, 200]);
    expect(page.text).not.toMatch(/(?:src|href)="https?:/);
  });

  it('leads from /openapi.json to the contract, without a token', async () => {
    const { status, headers } = await fetch(`${app.origin}/openapi.json`, { redirect: 'manual' });
    const target = new URL(headers.get('location') ?? '', `${app.origin}/openapi.json`);
    expect([status, target.pathname]).toEqual([302, '/docs/openapi.json']);
  });

  it('serves no other files of Swagger UI', async () => {
    for (const part of [
      'index.css',
      'swagger-initializer.js',
      'swagger-ui.js',
      'package.json',
      'LICENSE',
      '../index.js',
    ]) {
      const { status, body } = await app.client().get(`/docs/${part.replace('/', '%2f')}`);
      expect([part, status, body['code']]).toEqual([part, 404, 'not_found']);
    }
  });

  it('has one address and accepts only GET', async () => {
    for (const other of ['/docs/', '/docs/index.html']) {
      const { status, headers } = await app.client().get(other, { redirect: 'manual' });
      expect([other, status, headers.get('location')]).toEqual([other, 302, '../docs']);
    }
    const posted = await app.client().send('POST', '/docs');
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  describe('at the root', () => {
    const PAGE = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

    it.each([
      ['GET', '/'],
      ['HEAD', '/'],
      ['GET', '/?utm_source=mail'],
    ])('redirects a browser to /docs: %s %s', async (method, path) => {
      // Not by the API's client, as the contract describes no page.
      const { status, headers } = await fetch(`${app.origin}${path}`, {
        method,
        headers: { Accept: PAGE },
        redirect: 'manual',
      });

      // Relative, so that it also holds behind a proxy that adds a path.
      expect([status, headers.get('location'), headers.get('vary')]).toEqual([302, 'docs', 'Accept']);
    });

    it.each([
      ['GET', '*/*'],
      ['GET', 'application/json'],
      ['GET', 'application/json, text/html;q=0.5'],
      ['HEAD', 'application/json'],
      ['POST', PAGE],
      ['OPTIONS', '*/*'],
    ])('returns 404 otherwise: %s with Accept: %s', async (method, accept) => {
      const { status, headers } = await app.client().send(method, '/', { headers: { Accept: accept } });

      expect([status, headers.get('allow')]).toEqual([404, null]);
    });
  });

  it('shows exactly the endpoints of the committed contract', () => {
    const endpoints = (paths: object): string[] =>
      Object.entries(paths).flatMap(([path, methods]) =>
        Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`),
      );
    expect(endpoints(contract.paths).sort()).toEqual(endpoints(readContract(CONTRACT_FILE).paths).sort());
    expect(contract.info.version).toBe('1.0.0');
  });

  it('shows an introduction whose links all work', async () => {
    const links = [...contract.info.description.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link as string);
    const paths = links.map((link) => link.replace('https://api.example.test', ''));
    expect(paths).toEqual(expect.arrayContaining(['/docs', '/docs/guides', '/problems']));
    for (const path of paths) {
      const { status } = await app.client().get(path, { headers: { Accept: 'text/html' } });
      expect([path, status]).toEqual([path, 200]);
    }
  });

  it('shows for every operation who may call it and how it fails', () => {
    for (const [path, methods] of Object.entries(contract.paths)) {
      for (const operation of Object.values(methods)) {
        expect([path, operation.operationId]).toEqual([path, expect.any(String) as string]);
        expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['200', '500']));
        if (path.startsWith('/v1/') && path !== '/v1/health' && path !== '/v1/me') {
          expect(operation.security).toEqual([
            { clientCredentials: [expect.stringMatching(/^(inventory|computers|audit):(read|write)$/)] },
            { clientCredentials: [expect.stringMatching(/^all:(read|write)$/)] },
          ]);
          expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['400', '401', '403', '503']));
        }
      }
    }
    expect(contract.paths['/v1/me']?.['get']?.security).toEqual([{ clientCredentials: [] }]);
  });

  it('authorizes by client credentials at the token endpoint', () => {
    expect(contract.components.securitySchemes['clientCredentials']).toMatchObject({
      type: 'oauth2',
      flows: {
        clientCredentials: {
          tokenUrl: 'https://api.example.test/oauth/token',
          scopes: { 'inventory:read': expect.any(String) as string },
        },
      },
    });
  });

  it('shows a schema for every body, none of them empty', () => {
    const { schemas } = contract.components;
    expect(Object.keys(schemas)).toEqual(
      expect.arrayContaining([
        'Asset',
        'AssetPage',
        'Computer',
        'PageInfo',
        'Problem',
        'HealthDto',
        'AccessTokenResponse',
      ]),
    );
    for (const [name, schema] of Object.entries(schemas)) {
      const { properties = {}, ...rest } = schema as {
        properties?: object;
        enum?: string[];
        'x-extensible-enum'?: string[];
      };
      // An enum is a schema of its own without members.
      const values = rest.enum ?? rest['x-extensible-enum'] ?? [];
      expect([name, Object.keys(properties).length + values.length > 0]).toEqual([name, true]);
    }
  });
});
