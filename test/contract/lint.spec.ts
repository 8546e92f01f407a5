import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type Contract, readContract } from './contract-document';
import { CONTRACT_FILE } from './contract-files';
import { REMOVED, partOf, planted } from './planted-contract';

interface Finding {
  readonly rule: string;
  readonly message: string;
  readonly place: string;
}

const ROOT = join(__dirname, '../..');

function lint(documents: readonly object[]): Finding[][] {
  const hook = ['--conditions=source', '-r', join(ROOT, 'test/support/typescript-register.cjs')];
  const { stdout, stderr, status } = spawnSync(process.execPath, [...hook, join(__dirname, 'lint-contract.ts')], {
    input: JSON.stringify(documents),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    timeout: 120_000,
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Finding[][];
}

const LIST = 'paths /v1/inventory/assets get';
const ASSET = 'components schemas Asset properties';
const BULK = 'paths /v1/inventory/assets patch';
const MERGE_PATCH = `${BULK} requestBody content application/merge-patch+json`;
const MALFORMED_PAGE = { value: { results: [], pageInfo: { hasNextPage: 'no' } } };

const INLINE_ENUM = { type: 'string', enum: ['A', 'B'], example: 'A' };
const A_LIST = { type: 'array', maxItems: 9, items: { type: 'boolean' } };
const A_MAP = { type: 'object', additionalProperties: { type: 'boolean' } };
const UNUSED_RESPONSE = { description: 'Nobody gives it.', headers: {}, content: {} };

function mergePatchFirst(): object {
  const content = readContract(CONTRACT_FILE).paths['/v1/inventory/assets']?.['patch']?.requestBody?.content ?? {};
  return Object.fromEntries(Object.entries(content).reverse());
}

const PLANTED: readonly (readonly [rule: string, what: string, changes: Record<string, unknown>])[] = [
  ['struct', 'a word that OpenAPI does not know', { [`${LIST} verb`]: 'list' }],
  [
    'no-unresolved-refs',
    'a reference to nothing',
    { [`${LIST} parameters 0`]: { $ref: '#/components/parameters/None' } },
  ],
  ['operation-summary', 'no summary', { [`${LIST} summary`]: REMOVED }],
  ['operation-description', 'no description of an operation', { [`${LIST} description`]: REMOVED }],
  ['operation-operationId', 'no operationId', { [`${LIST} operationId`]: REMOVED }],
  ['operation-operationId-unique', 'one operationId twice', { [`${LIST} operationId`]: 'getAsset' }],
  ['house/operation-tags', 'no tags', { [`${LIST} tags`]: REMOVED }],
  ['operation-tag-defined', 'an unknown tag', { [`${LIST} tags`]: ['Things'] }],
  ['operation-singular-tag', 'two tags', { [`${LIST} tags`]: ['Inventory', 'Computers'] }],
  ['tag-description', 'a tag without a description', { 'tags 0 description': REMOVED }],
  ['house/operation-security', 'no word on security', { [`${LIST} security`]: REMOVED }],
  ['security-defined', 'an unknown security scheme', { [`${LIST} security 0`]: { none: [] } }],
  ['security-scopes-defined', 'an unknown scope', { [`${LIST} security 0 clientCredentials`]: ['assets:read'] }],
  ['parameter-description', 'a parameter without a description', { [`${LIST} parameters 0 description`]: REMOVED }],
  ['house/parameter-example', 'a parameter without an example', { [`${LIST} parameters 0 schema example`]: REMOVED }],
  ['no-invalid-schema-examples', 'an example out of limits', { [`${LIST} parameters 0 schema example`]: 500 }],
  ['house/schema-limits', 'an integer without a limit', { [`${LIST} parameters 0 schema maximum`]: REMOVED }],
  ['house/schema-limits', 'a string without a limit', { [`${ASSET} name maxLength`]: REMOVED }],
  [
    'house/schema-limits',
    'an array without a limit',
    { 'components schemas AssetPage properties results maxItems': REMOVED },
  ],
  ['scalar-property-missing-example', 'a member without an example', { [`${ASSET} name example`]: REMOVED }],
  [
    'house/media-type-examples',
    'a response without an example',
    { [`${LIST} responses 200 content application/json examples`]: {} },
  ],
  [
    'no-invalid-media-type-examples',
    'an example of a response that is not one',
    { [`${LIST} responses 200 content application/json examples first`]: MALFORMED_PAGE },
  ],
  ['house/response-headers', 'a response without headers', { [`${LIST} responses 200 headers`]: REMOVED }],
  [
    'response-contains-header',
    'a response without X-Request-Id',
    { [`${LIST} responses 400 headers X-Request-Id`]: REMOVED },
  ],
  ['house/header-described', 'a header without a description', { 'components headers ETag description': REMOVED }],
  ['house/header-described', 'a header without an example', { 'components headers ETag example': REMOVED }],
  ['no-unused-components', 'a response that nothing refers to', { 'components responses': { Gone: UNUSED_RESPONSE } }],
  ['no-unused-components', 'a schema that nothing refers to', { 'components schemas Gone': { type: 'boolean' } }],
  [
    'house/security-schemes-used',
    'a security scheme that no operation uses',
    { 'components securitySchemes basic': { type: 'http', scheme: 'basic' } },
  ],
  ['house/enum-named', 'an enum without a name', { [`${ASSET} classification`]: INLINE_ENUM }],
  ['house/enum-named', 'an enum without a name in a parameter', { [`${LIST} parameters 2 schema`]: INLINE_ENUM }],
  ['house/enum-named', 'an enum without a name in an array', { [`${ASSET} tags items`]: INLINE_ENUM }],
  ['house/enum-of-texts', 'an enum of one value', { 'components schemas Classification enum': ['PUBLIC'] }],
  ['house/enum-of-texts', 'an enum with null', { 'components schemas Classification enum': ['A', 'B', null] }],
  ['house/enum-of-texts', 'an enum of null alone', { 'components schemas BulkPatch properties tags enum': [null] }],
  [
    'house/nullable-form',
    'a type beside a nullable reference',
    { 'components schemas BulkPatch properties classification type': 'string' },
  ],
  [
    'house/nullable-form',
    'null beside nothing',
    { 'components schemas BulkPatch properties classification allOf': REMOVED },
  ],
  [
    'house/object-shaped',
    'a nullable member without a type',
    { [`${ASSET} description type`]: 'object', [`${ASSET} description maxLength`]: REMOVED },
  ],
  [
    'house/alternatives-are-classes',
    'an array among alternatives',
    { 'components schemas AuditChange properties new anyOf': [{ type: 'boolean' }, A_LIST] },
  ],
  [
    'house/alternatives-are-classes',
    'a map among alternatives',
    { 'components schemas AuditChange properties new oneOf': [{ type: 'boolean' }, A_MAP] },
  ],
  [
    'house/null-told-apart',
    'one schema for a patch and a merge patch',
    { [`${MERGE_PATCH} schema`]: { $ref: '#/components/schemas/BulkUpdateRequest' } },
  ],
  ['house/null-told-apart', 'a merge patch that comes first', { [`${BULK} requestBody content`]: mergePatchFirst() }],
  [
    'house/null-told-apart',
    'a merge patch that does not say what null does',
    { 'components schemas BulkUpdateMergePatch description': 'One merge patch.' },
  ],
  [
    'house/form-without-references',
    'a form that refers to a named schema',
    { 'components schemas TokenRequest properties scope': { $ref: '#/components/schemas/Classification' } },
  ],
  [
    'house/request-id-taken',
    'a pattern of X-Request-Id',
    { 'components parameters X-Request-Id schema pattern': '^[a-z]+$' },
  ],
  [
    'house/no-token-said-plainly',
    'no token as one of two ways in',
    { 'paths /oauth/token post security': [{ clientCredentials: [] }, {}] },
  ],
  [
    'house/links-resolve',
    'a link to an unknown operation',
    { [`${LIST} responses 200 links getAsset operationId`]: 'getThing' },
  ],
  [
    'house/links-resolve',
    'a link with an unknown parameter',
    { [`${LIST} responses 200 links getAsset parameters key`]: '$response.body#/results/0/id' },
  ],
  ['operation-2xx-response', 'no success', { [`${LIST} responses 200`]: REMOVED }],
  [
    'path-parameters-defined',
    'a path parameter that is not described',
    { 'paths /v1/computers/{id} get parameters 0 name': 'key' },
  ],
];

/** Where faults are planted, and where links from there lead. */
const PATHS = [
  ...['/v1/inventory/assets', '/v1/inventory/assets/{id}', '/v1/inventory/assets/{id}/history'],
  ...['/v1/inventory/changes', '/v1/computers/{id}', '/v1/computers/{id}/history', '/v1/audit-events', '/oauth/token'],
];
const KIND = 'components schemas AuditActor properties kind';
const A_KIND = {
  nullable: true,
  allOf: [{ $ref: '#/components/schemas/Classification' }],
  description: 'Its kind.',
};

describe('The contract', () => {
  const contract = readContract(CONTRACT_FILE);
  const part = partOf(contract, PATHS);
  const [findings, ofPart, accepted, refused, ...caught] = lint([
    contract,
    part,
    planted(part, { [KIND]: A_KIND }),
    planted(part, { [KIND]: { ...A_KIND, type: 'string' } }),
    ...PLANTED.map(([, , changes]): Contract => planted(part, changes)),
  ]);

  it('has no fault by the lint rules', () => {
    expect([findings, ofPart]).toEqual([[], []]);
  });

  it('accepts a nullable list of values, and says how to write one', () => {
    expect(accepted).toEqual([]);
    expect(refused?.map(({ message }) => message)).toEqual([
      expect.stringContaining('a nullable namedEnum is spread without `type`'),
    ]);
  });

  it.each(PLANTED.map(([rule, what], index) => ({ rule, what, found: caught[index] ?? [] })))(
    'is refused with $what: $rule',
    ({ rule, found }) => {
      expect(found.map((finding) => finding.rule)).toContain(rule);
    },
  );
});
