import { readContract } from './contract-document';
import { CONTRACT_FILE } from './contract-files';
import { ContractOracle } from './contract-oracle';

const contract = readContract(CONTRACT_FILE);
const oracle = new ContractOracle(contract);

const EVERY_RESPONSE = {
  'content-type': 'application/json; charset=utf-8',
  'x-request-id': 'abc',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};
const CHARGED = {
  ...EVERY_RESPONSE,
  'x-ratelimit-limit': '100',
  'x-ratelimit-remaining': '99',
  ratelimit: '"read";r=99;t=2',
  'ratelimit-policy': '"read";q=100;w=120',
};
const ASSET = exampleOf('/v1/inventory/assets/{id}', 'get', '200', 'cloud');
const LIST = exampleOf('/v1/inventory/assets', 'get', '200', 'first') as { results: object[] };
const NOT_FOUND = contract.components.examples['not_found']?.value as Record<string, unknown>;
const ITEM = '/v1/inventory/assets/018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c11';

function exampleOf(path: string, method: string, status: string, name: string): Record<string, unknown> {
  const examples = contract.paths[path]?.[method]?.responses[status]?.content?.['application/json']?.examples;
  return (examples?.[name] as { value: Record<string, unknown> }).value;
}

function faults(
  method: string,
  target: string,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string | null>> = {},
): string[] {
  const all = Object.entries({ ...CHARGED, ...headers }).filter((one): one is [string, string] => one[1] !== null);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return oracle.faultsOf(method, target, { status, headers: new Headers(all), text });
}
const TAGGED = { etag: '"7"' };
const PROBLEM = { 'content-type': 'application/problem+json' };

describe('ContractOracle', () => {
  it('accepts a documented response', () => {
    expect(faults('GET', ITEM, 200, ASSET, TAGGED)).toEqual([]);
    expect(faults('GET', `${ITEM}?x=1`, 404, NOT_FOUND, PROBLEM)).toEqual([]);
    expect(faults('HEAD', ITEM, 200, '', TAGGED)).toEqual([]);
    expect(faults('GET', '/v1/inventory/assets?pageSize=2', 200, LIST)).toEqual([]);
  });

  it.each([
    ['an undocumented status', 'GET', ITEM, 202, ASSET, TAGGED, /status 202/],
    ['a member that is not named', 'GET', ITEM, 200, { ...ASSET, secret: 1 }, TAGGED, /additional properties/],
    [
      'a member that is not named, deep within',
      'GET',
      '/v1/inventory/assets',
      200,
      deep(),
      {},
      /additional properties/,
    ],
    ['a member that is missing', 'GET', ITEM, 200, { ...ASSET, email: undefined }, TAGGED, /required property 'email'/],
    ['null where there is none', 'GET', ITEM, 200, { ...ASSET, name: null }, TAGGED, /\/name must be string/],
    ['another type', 'GET', ITEM, 200, { ...ASSET, name: 7 }, TAGGED, /\/name must be string/],
    [
      'a value that the list has not',
      'GET',
      ITEM,
      200,
      { ...ASSET, categoryKey: 'X' },
      TAGGED,
      /\/categoryKey must be/,
    ],
    ['a value that an open list has not yet', 'GET', ITEM, 200, { ...ASSET, type: 'X' }, TAGGED, /\/type must be/],
    ['a text beyond its limit', 'GET', ITEM, 200, { ...ASSET, description: 'x'.repeat(501) }, TAGGED, /500 characters/],
    ['another format', 'GET', ITEM, 200, { ...ASSET, createdAt: 'today' }, TAGGED, /date-time/],
    [
      'another media type',
      'GET',
      ITEM,
      200,
      ASSET,
      { ...TAGGED, 'content-type': 'text/html' },
      /media type text\/html/,
    ],
    ['no JSON', 'GET', ITEM, 200, 'oops', TAGGED, /not JSON/],
    ['a header that is not named', 'GET', ITEM, 200, ASSET, { ...TAGGED, 'x-powered-by': 'me' }, /header x-powered-by/],
    ['a header that is missing', 'PATCH', ITEM, 200, ASSET, {}, /header ETag is missing/],
    [
      'a header of another form',
      'GET',
      ITEM,
      200,
      ASSET,
      { ...TAGGED, 'x-ratelimit-limit': 'many' },
      /X-RateLimit-Limit/,
    ],
    ['a body for HEAD', 'HEAD', ITEM, 200, ASSET, TAGGED, /HEAD has a body/],
    [
      'a code of another operation',
      'GET',
      ITEM,
      404,
      { ...NOT_FOUND, code: 'invalid_scope' },
      PROBLEM,
      /code invalid_scope/,
    ],
    ['a response at an unknown path', 'GET', '/v1/secrets', 200, {}, {}, /status 200/],
    ['a response to an unknown method', 'DELETE', ITEM, 200, ASSET, TAGGED, /status 200/],
  ] as const)('refuses %s', (_, method, target, status, body, headers, fault) => {
    expect(faults(method, target, status, body, headers).join('\n')).toMatch(fault);
  });

  it('accepts responses that describe themselves', () => {
    expect(faults('GET', '/docs/openapi.json', 200, {})).toEqual([]);
    expect(faults('GET', '/problems/not_found', 200, {})).toEqual([]);
    expect(faults('GET', '/documents', 200, {})).not.toEqual([]);
  });
});

function deep(): object {
  return { ...LIST, results: [{ ...ASSET, tags: [{ key: 'a', value: '', readOnly: false, owner: 'me' }] }] };
}
