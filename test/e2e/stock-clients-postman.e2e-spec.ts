import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONTRACT_FILE } from '../contract/contract-files';
import { arrangeEveryResource } from '../contract/every-resource';
import { idVariableOf } from '../contract/postman-collection';
import { ApiClient, type ApiResponse } from '../support/api-client';
import { type TestApp, startApp } from '../support/start-app';

interface Parameter {
  readonly key: string;
  readonly value: string;
  readonly disabled?: boolean;
}
interface Item {
  readonly name: string;
  readonly item?: readonly Item[];
  readonly request: {
    readonly method: string;
    readonly url: { readonly path: readonly string[]; readonly query: Parameter[]; readonly variable: Parameter[] };
    readonly header: readonly Parameter[];
    readonly body?: { readonly raw?: string; readonly urlencoded?: readonly Parameter[] };
    readonly auth?: { readonly type: string };
  };
}
interface Collection {
  readonly item: readonly Item[];
  readonly variable: readonly Parameter[];
  readonly auth: { readonly type: string; readonly oauth2: readonly Parameter[] };
}

const collection = JSON.parse(
  readFileSync(join(__dirname, '../../docs/contract/postman-collection.json'), 'utf8'),
) as Collection;
const items = collection.item.flatMap((folder) => folder.item ?? [folder]);
const enabled = (parameters: readonly Parameter[]) => parameters.filter(({ disabled }) => disabled !== true);
const pairs = (parameters: readonly Parameter[], fill: (text: string) => string) =>
  enabled(parameters).map(({ key, value }): [string, string] => [key, fill(value)]);

const asksForToken = ({ request }: Item): number => (request.method === 'POST' ? 1 : 0);
const tokenLast = (one: Item, other: Item): number => asksForToken(one) - asksForToken(other);

describe('The Postman collection', () => {
  let app: TestApp;
  let values: Record<string, string>;
  let token: string;
  beforeAll(async () => {
    app = await startApp();
    const workspace = await app.arrange.aWorkspace();
    const { clientId, clientSecret } = await app.arrange.anApplication(workspace);
    const { ids } = await arrangeEveryResource(app, workspace);
    values = { baseUrl: app.origin, clientId, clientSecret };
    for (const [path, id] of Object.entries(ids)) values[idVariableOf(path)] = id;
    const { oauth2 } = collection.auth;
    const setting = (key: string) => filled(oauth2.find((one) => one.key === key)?.value ?? '');
    // The request of Postman's "Get New Access Token", with credentials in a Basic header.
    const basic = Buffer.from(`${setting('clientId')}:${setting('clientSecret')}`).toString('base64');
    const response = await fetch(setting('accessTokenUrl'), {
      method: 'POST',
      headers: { Authorization: `Basic ${basic}` },
      body: new URLSearchParams({ grant_type: setting('grant_type') }),
    });
    token = ((await response.json()) as { access_token: string }).access_token;
  });
  afterAll(() => app.stop());

  const filled = (text: string): string =>
    text.replace(/\{\{([^}]+)\}\}/g, (_, name: string) => (name === '$guid' ? randomUUID() : (values[name] ?? name)));

  const send = async ({ request }: Item): Promise<ApiResponse> => {
    const { url, method, header, body, auth } = request;
    const places = Object.fromEntries(url.variable.map(({ key, value }) => [`:${key}`, filled(value)]));
    const path = url.path.map((part) => places[part] ?? part).join('/');
    const query = new URLSearchParams(pairs(url.query, filled)).toString();
    const form = new URLSearchParams(pairs(body?.urlencoded ?? [], filled));
    return new ApiClient(app.origin, auth?.type === 'noauth' ? undefined : token).send(method, `/${path}?${query}`, {
      headers: pairs(header, filled),
      body: body?.raw === undefined ? (method === 'POST' ? form.toString() : undefined) : filled(body.raw),
    });
  };

  it('has every operation of the contract and needs no value except its variables', () => {
    const { paths } = JSON.parse(readFileSync(CONTRACT_FILE, 'utf8')) as { paths: Record<string, object> };
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const requests = items.map(({ request: { method, url } }) => `${method} /${url.path.join('/')}`);
    expect(requests.map((one) => one.replace(/:(\w+)/, '{$1}')).sort()).toEqual(operations.sort());
    expect(collection.variable.map(({ key }) => key).sort()).toEqual(Object.keys(values).sort());
  });

  it('sends a fresh Idempotency-Key with every write', () => {
    const writes = items.filter(({ request }) => request.method === 'PATCH');
    expect(writes.length).toBeGreaterThan(1);
    for (const { request } of writes) {
      expect(enabled(request.header)).toContainEqual(
        expect.objectContaining({ key: 'Idempotency-Key', value: '{{$guid}}' }) as Parameter,
      );
    }
  });

  // The token request runs last, because it supersedes the token of the others.
  it.each([...items].sort(tokenLast).map((item) => [item.name, item] as const))(
    '%s: works unchanged',
    async (_, item) => {
      const response = await send(item);
      expect([response.status, response.status === 200 ? '' : response.text]).toEqual([200, '']);
    },
  );
});
