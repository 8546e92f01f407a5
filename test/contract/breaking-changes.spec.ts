import { breakingChanges } from './breaking-changes';
import { type Contract, readContract } from './contract-document';
import { CONTRACT_FILE, RELEASED_FILE } from './contract-files';
import { REMOVED, planted } from './planted-contract';

const RELEASED: Contract = {
  openapi: '3.0.3',
  info: { version: '1.0.0' },
  paths: {
    '/things/{id}': {
      patch: {
        operationId: 'updateThing',
        security: [{ client: ['things:write'] }, { client: ['all:write'] }],
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } },
          { name: 'size', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100, default: 25 } },
          { name: 'Key', in: 'header', schema: { type: 'string', minLength: 1, maxLength: 256, pattern: '^.+$' } },
        ],
        requestBody: {
          required: false,
          content: {
            'application/json': { schema: { $ref: '#/components/schemas/Patch' } },
            'application/merge-patch+json': { schema: { $ref: '#/components/schemas/Patch' } },
          },
        },
        responses: {
          '200': {
            description: 'The thing.',
            headers: { ETag: { required: true, schema: { type: 'string' } } },
            content: {
              'application/json': { schema: { $ref: '#/components/schemas/Thing' } },
              'text/plain': { schema: { type: 'string' } },
            },
          },
          '404': {
            description: 'Not found.',
            content: {
              'application/problem+json': { schema: { type: 'object' }, examples: { not_found: { value: {} } } },
            },
          },
          '409': { description: 'Conflict.' },
        },
      },
    },
  },
  components: {
    schemas: {
      Patch: {
        type: 'object',
        additionalProperties: false,
        properties: {
          note: { type: 'string', nullable: true, maxLength: 500 },
          kind: { type: 'string', enum: ['A', 'B'] },
          mode: { type: 'string', nullable: true, enum: ['A', 'B', null] },
          never: { type: 'string', nullable: true, enum: [null] },
          tags: { type: 'array', maxItems: 20, items: { type: 'string', maxLength: 10 } },
        },
      },
      Thing: {
        type: 'object',
        required: ['id', 'kind', 'label', 'part', 'tags'],
        properties: {
          id: { type: 'string', format: 'uuid' },
          kind: { type: 'string', enum: ['A', 'B'] },
          always: { type: 'string', enum: ['yes'] },
          open: { type: 'string', 'x-extensible-enum': ['A'] },
          label: { type: 'string', maxLength: 100 },
          part: { allOf: [{ $ref: '#/components/schemas/Part' }] },
          tags: { type: 'array', maxItems: 20, items: { type: 'string' } },
        },
      },
      Part: { type: 'object', required: ['count'], properties: { count: { type: 'integer', minimum: 0 } } },
      Open: { type: 'object', properties: {} },
    },
    headers: {},
    parameters: {},
    responses: {},
    examples: {},
    securitySchemes: {
      client: { flows: { clientCredentials: { scopes: { 'things:write': '', 'all:write': '' } } } },
      basic: { type: 'http' },
    },
  },
};

const OPERATION = 'paths /things/{id} patch';
const PATCH = 'components schemas Patch';
const THING = 'components schemas Thing';

const response = (status: string, rest: string) => `${OPERATION} responses ${status} ${rest}`;
const parameter = (index: number, rest: string) => `${OPERATION} parameters ${index} ${rest}`;

const MERGE_PATCH = `${OPERATION} requestBody content application/merge-patch+json schema`;

const KIND = { $ref: '#/components/schemas/Kind' };
/** The same list of values as a named schema that members refer to. */
const named = (values: readonly string[], changes: Record<string, unknown>): Record<string, unknown> => ({
  'components schemas Kind': { type: 'string', enum: values },
  ...changes,
});

const BREAKING: readonly (readonly [string, Record<string, unknown>, string])[] = [
  ['a removed path', { 'paths /things/{id}': REMOVED }, 'is gone'],
  ['a removed operation', { [OPERATION]: REMOVED }, 'is gone'],
  ['another operationId', { [`${OPERATION} operationId`]: 'patchThing' }, 'has another operationId'],
  ['another scope', { [`${OPERATION} security 0`]: { client: ['things:admin'] } }, 'no longer lets in'],
  ['one more scope', { [`${OPERATION} security 0 client`]: ['things:write', 'more'] }, 'no longer lets in'],
  ['a removed way in', { [`${OPERATION} security`]: [{ client: ['things:write'] }] }, 'no longer lets in'],
  [
    'a removed parameter',
    { [`${OPERATION} parameters`]: RELEASED.paths['/things/{id}']?.['patch']?.parameters?.slice(0, 2) },
    'is gone',
  ],
  ['a parameter that became required', { [parameter(1, 'required')]: true }, 'is required now'],
  [
    'a new required parameter',
    { [parameter(3, '').trim()]: { name: 'new', in: 'query', required: true, schema: { type: 'string' } } },
    'is required now',
  ],
  ['a lower maximum of a parameter', { [parameter(1, 'schema maximum')]: 50 }, 'has a narrower maximum'],
  ['a higher minimum of a parameter', { [parameter(1, 'schema minimum')]: 2 }, 'has a narrower minimum'],
  ['another default of a parameter', { [parameter(1, 'schema default')]: 50 }, 'has another default'],
  ['another type of a parameter', { [parameter(1, 'schema type')]: 'string' }, 'has another type'],
  ['a higher minLength of a parameter', { [parameter(2, 'schema minLength')]: 8 }, 'has a narrower minLength'],
  ['a lower maxLength of a parameter', { [parameter(2, 'schema maxLength')]: 64 }, 'has a narrower maxLength'],
  ['another pattern of a parameter', { [parameter(2, 'schema pattern')]: '^[a-z]+$' }, 'has another pattern'],
  ['a pattern where there was none', { [parameter(1, 'schema pattern')]: '^1' }, 'has another pattern'],
  ['a format where there was none', { [parameter(2, 'schema format')]: 'uuid' }, 'has another format'],
  ['a body that became required', { [`${OPERATION} requestBody required`]: true }, 'is required now'],
  ['a removed body', { [`${OPERATION} requestBody`]: REMOVED }, 'is no longer taken as'],
  [
    'a removed media type of the body',
    { [`${OPERATION} requestBody content application/merge-patch+json`]: REMOVED },
    'is no longer taken as application/merge-patch+json',
  ],
  ['a removed member of a request', { [`${PATCH} properties note`]: REMOVED }, 'is gone'],
  ['a new required member of a request', { [`${PATCH} required`]: ['kind'] }, 'is required now'],
  [
    'a member of a request that takes no null',
    { [`${PATCH} properties note nullable`]: REMOVED },
    'no longer takes null',
  ],
  ['a shorter text of a request', { [`${PATCH} properties note maxLength`]: 100 }, 'has a narrower maxLength'],
  [
    'a limit of a request where there was none',
    { [`${PATCH} properties kind maxLength`]: 9 },
    'has a narrower maxLength',
  ],
  ['a removed value of a request', { [`${PATCH} properties kind enum`]: ['A'] }, 'no longer takes B'],
  ['a list of values where any was taken', { [`${PATCH} properties note enum`]: ['A'] }, 'takes only some values'],
  ['fewer items in a request', { [`${PATCH} properties tags maxItems`]: 10 }, 'has a narrower maxItems'],
  ['narrower items in a request', { [`${PATCH} properties tags items maxLength`]: 5 }, 'has a narrower maxLength'],
  ['another type within a request', { [`${PATCH} properties note type`]: 'integer' }, 'has another type'],
  ['a removed status', { [response('409', '').trim()]: REMOVED }, 'is gone'],
  ['a new success', { [response('202', '').trim()]: { description: 'Later.' } }, 'is a new success'],
  ['a removed media type of a response', { [response('200', 'content text/plain')]: REMOVED }, 'no longer given as'],
  ['a removed header', { [response('200', 'headers ETag')]: REMOVED }, 'is gone'],
  ['a header that became optional', { [response('200', 'headers ETag required')]: false }, 'can be absent now'],
  ['another type of a header', { [response('200', 'headers ETag schema type')]: 'integer' }, 'has another type'],
  ['a removed member of a response', { [`${THING} properties label`]: REMOVED }, 'is gone'],
  [
    'a member of a response that became optional',
    { [`${THING} required`]: ['id', 'kind', 'part', 'tags'] },
    'can be absent now',
  ],
  ['a member of a response that became nullable', { [`${THING} properties label nullable`]: true }, 'can be null now'],
  ['another type within a response', { [`${THING} properties label type`]: 'integer' }, 'has another type'],
  ['another format within a response', { [`${THING} properties id format`]: 'uri' }, 'has another format'],
  ['a format lost within a response', { [`${THING} properties id format`]: REMOVED }, 'has another format'],
  ['a new value of a response', { [`${THING} properties kind enum`]: ['A', 'B', 'C'] }, 'can be C now'],
  ['any value where a response had a list', { [`${THING} properties kind enum`]: REMOVED }, 'can have any value now'],
  ['a longer text of a response', { [`${THING} properties label maxLength`]: 200 }, 'has a wider maxLength'],
  [
    'a text of a response without a limit',
    { [`${THING} properties label maxLength`]: REMOVED },
    'has a wider maxLength',
  ],
  ['more items in a response', { [`${THING} properties tags maxItems`]: 40 }, 'has a wider maxItems'],
  [
    'another type of the items of a response',
    { [`${THING} properties tags items type`]: 'object' },
    'has another type',
  ],
  [
    'a lower minimum behind references',
    { 'components schemas Part properties count minimum': -1 },
    'has a wider minimum',
  ],
  [
    'a code that moved to another status',
    {
      [response('404', 'content')]: {},
      [response('409', 'content')]: {
        'application/problem+json': { schema: {}, examples: { not_found: { value: {} } } },
      },
    },
    'can be 409 now',
  ],
  [
    'a removed scope',
    { 'components securitySchemes client flows clientCredentials scopes things:write': REMOVED },
    'is gone',
  ],
  [
    'a removed value of a request behind a reference',
    named(['A'], { [`${PATCH} properties kind`]: { allOf: [KIND] } }),
    'no longer takes B',
  ],
  [
    'a reference that takes no null',
    named(['A', 'B'], { [`${PATCH} properties mode`]: { allOf: [KIND] } }),
    'no longer takes null',
  ],
  [
    'a list of values without null, though nullable',
    { [`${PATCH} properties mode enum`]: ['A', 'B'] },
    'no longer takes null',
  ],
  [
    'a new value of a response behind a reference',
    named(['A', 'B', 'C'], { [`${THING} properties kind`]: KIND }),
    'can be C now',
  ],
  [
    'a nullable reference in a response',
    named(['A', 'B'], { [`${THING} properties kind`]: { nullable: true, allOf: [KIND] } }),
    'can be null now',
  ],
  ['another constant', { [`${THING} properties always`]: { type: 'string', pattern: '^no$' } }, 'can be no now'],
  [
    'a form where there was a constant',
    { [`${THING} properties always`]: { type: 'string', pattern: '^y' } },
    'can have any value now',
  ],
  [
    'a member that could only be null and takes none',
    { [`${PATCH} properties never`]: { type: 'string' } },
    'no longer takes null',
  ],
  [
    'another schema of one media type that lacks a member',
    {
      'components schemas MergePatch': { type: 'object', additionalProperties: false, properties: {} },
      [MERGE_PATCH]: { $ref: '#/components/schemas/MergePatch' },
    },
    'body application/merge-patch+json.note is gone',
  ],
  ['a removed security scheme', { 'components securitySchemes client': REMOVED }, 'is gone'],
];

const ADDITIVE: readonly (readonly [string, Record<string, unknown>])[] = [
  ['nothing', {}],
  ['a new path', { 'paths /other': { get: { operationId: 'other', responses: {} } } }],
  ['a new optional parameter', { [parameter(3, '').trim()]: { name: 'new', in: 'query', schema: { type: 'string' } } }],
  ['a wider limit of a parameter', { [parameter(1, 'schema maximum')]: 200 }],
  ['a parameter without its pattern', { [parameter(2, 'schema pattern')]: REMOVED }],
  ['a new optional member of a request', { [`${PATCH} properties more`]: { type: 'string' } }],
  ['a new value of a request', { [`${PATCH} properties kind enum`]: ['A', 'B', 'C'] }],
  ['a new media type of the body', { [`${OPERATION} requestBody content text/csv`]: { schema: { type: 'string' } } }],
  ['a new way in', { [`${OPERATION} security 2`]: { client: ['things:admin'] } }],
  ['no need for a token', { [`${OPERATION} security`]: [] }],
  ['a new failure', { [response('423', '').trim()]: { description: 'Locked.' } }],
  ['a new header', { [response('200', 'headers New')]: { schema: { type: 'string' } } }],
  ['a new member of a response', { [`${THING} properties more`]: { type: 'string' } }],
  ['a new value where the schema says so', { [`${THING} properties open x-extensible-enum`]: ['A', 'B'] }],
  ['a removed value of a response', { [`${THING} properties kind enum`]: ['A'] }],
  ['a shorter text of a response', { [`${THING} properties label maxLength`]: 50 }],
  [
    'a list of values that got a name',
    named(['A', 'B'], {
      [`${PATCH} properties kind`]: { allOf: [KIND] },
      [`${PATCH} properties mode`]: { nullable: true, allOf: [KIND] },
      [`${THING} properties kind`]: KIND,
    }),
  ],
  [
    'another name of a schema',
    {
      'components schemas Item': RELEASED.components.schemas['Thing'],
      [response('200', 'content application/json schema')]: { $ref: '#/components/schemas/Item' },
    },
  ],
  [
    'a schema for each media type',
    {
      'components schemas MergePatch': RELEASED.components.schemas['Patch'],
      [MERGE_PATCH]: { $ref: '#/components/schemas/MergePatch' },
    },
  ],
  ['one value as a pattern', { [`${THING} properties always`]: { type: 'string', pattern: '^yes$' } }],
  ['more where only null was taken', { [`${PATCH} properties never`]: { type: 'object', nullable: true } }],
  ['a security scheme that nobody needs is gone', { 'components securitySchemes basic': REMOVED }],
  ['other words', { [response('200', 'description')]: 'It.', [`${OPERATION} summary`]: 'Update' }],
];

describe('The comparison of contracts', () => {
  it.each(BREAKING)('catches %s', (_, changes, what) => {
    const found = breakingChanges(RELEASED, planted(RELEASED, changes));
    expect(found.join('\n')).toContain(what);
  });

  it.each(ADDITIVE)('accepts %s', (_, changes) => {
    expect(breakingChanges(RELEASED, planted(RELEASED, changes))).toEqual([]);
  });
});

describe('The contract', () => {
  it('only adds to the released contract', () => {
    // The ETag is absent only with a parameter that the release did not know. A bulk update names up to 100 employees.
    const accepted = /^GET \/v1\/inventory\/assets\/\{id\} 200 ETag can be absent now$|\.errors has a wider maxItems$/;
    const found = breakingChanges(readContract(RELEASED_FILE), readContract(CONTRACT_FILE));
    expect(found.filter((change) => !accepted.test(change))).toEqual([]);
  });
});
