import { getMetadataStorage } from 'class-validator';
import { ERROR_CODES, type ErrorCode } from '#libs/kernel';
import { BEARER_PROBLEMS, WRITE_PROBLEMS } from '#libs/platform/openapi';
import { PROBLEMS, problemExample } from '#libs/platform/problems';
import { PageQueryDto } from '#libs/platform/pagination';
import { AuditEventQueryDto } from '../../libs/audit/src/http/audit-event-query.dto';
import { ComputerQueryDto } from '../../libs/computers/src/http/computer-query.dto';
import { TagKeyQueryDto } from '../../libs/inventory/src/tag-keys/http/tag-key.dto';
import { AssetQueryDto } from '../../libs/inventory/src/assets/http/asset-query.dto';
import {
  type Header,
  type MediaType,
  type NamedOperation,
  type Parameter,
  type Response,
  type Schema,
  operationsOf,
  readContract,
  resolve,
} from './contract-document';
import { CONTRACT_FILE } from './contract-files';

const contract = readContract(CONTRACT_FILE);
const operations = operationsOf(contract);

const REQUEST_HEADERS = ['Idempotency-Key', 'If-Match', 'X-Request-Id'];
const RESPONSE_HEADERS = [
  ...['X-Request-Id', 'Link', 'X-Content-Type-Options', 'Cache-Control', 'ETag', 'Idempotent-Replayed', 'Retry-After'],
  ...['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'RateLimit', 'RateLimit-Policy', 'WWW-Authenticate'],
];

/** Not part of any operation. Only the list of codes in the problem schema contains it. */
const OF_NO_OPERATION: readonly ErrorCode[] = ['method_not_allowed'];

/** Counts items of a kind, and lists those without a description or an example. */
function count<Thing>(
  things: readonly (readonly [name: string, thing: Thing])[],
  isComplete: (thing: Thing) => boolean,
) {
  const incomplete = things.filter(([, thing]) => !isComplete(thing)).map(([name]) => name);
  return { total: things.length, complete: things.length - incomplete.length, incomplete };
}
const all = (total: number) => ({ total, complete: total, incomplete: [] });
const said = (text: string | undefined): boolean => (text ?? '').trim() !== '';

const named = ({ operation }: NamedOperation): string => operation.operationId ?? '';
const parameters = operations.flatMap((one) =>
  (one.operation.parameters ?? []).map((parameter) => {
    const resolved = resolve<Parameter>(contract, parameter);
    return [`${named(one)} ${resolved.name}`, resolved] as const;
  }),
);
const responses = [
  ...operations.flatMap((one) =>
    Object.entries(one.operation.responses).map(([status, response]) => [`${named(one)} ${status}`, response] as const),
  ),
];
const headers = responses.flatMap(([place, response]) =>
  Object.entries(response.headers ?? {}).map(
    ([name, header]) => [`${place} ${name}`, resolve<Header>(contract, header)] as const,
  ),
);
const bodies = [
  ...responses.flatMap(([place, { content = {} }]) => contents(place, content)),
  ...operations.flatMap((one) => contents(named(one), one.operation.requestBody?.content ?? {})),
];
const members = Object.entries(contract.components.schemas).flatMap(([name, { properties = {} }]) =>
  Object.entries(properties).map(([member, schema]) => [`${name}.${member}`, schema] as const),
);

function contents(place: string, content: Readonly<Record<string, MediaType>>) {
  return Object.entries(content).map(([mediaType, body]) => [`${place} ${mediaType}`, body] as const);
}

/** The codes of an error response are the names of its examples. */
function codesOf(response: Response | undefined): string[] {
  return Object.values(response?.content ?? {}).flatMap(({ examples = {} }) => Object.keys(examples));
}
const codesOfOperation = ({ operation }: NamedOperation): string[] =>
  Object.entries(operation.responses).flatMap(([status, response]) => (status < '400' ? [] : codesOf(response)));

describe('The contract documents with an example', () => {
  it('every operation', () => {
    const entries = operations.map((one) => [named(one), one.operation] as const);
    expect(
      count(entries, ({ summary, description, operationId, tags, security }) =>
        [said(summary), said(description), said(operationId), tags?.length === 1, security !== undefined].every(
          Boolean,
        ),
      ),
    ).toEqual(all(operations.length));
    expect(operations.length).toBeGreaterThanOrEqual(16);
  });

  it('every parameter that the code reads, and no other', () => {
    expect(
      count(
        parameters,
        ({ description, example, schema }) =>
          said(description) && (example ?? resolve(contract, schema).example) !== undefined,
      ),
    ).toEqual(all(parameters.length));
    const read = (query: new () => object) =>
      new Set(
        getMetadataStorage()
          .getTargetValidationMetadatas(query, '', false, false)
          .map((one) => one.propertyName),
      );
    const documented = (operationId: string) =>
      parameters
        .filter(([place, one]) => one.in === 'query' && place.startsWith(`${operationId} `))
        .map(([, one]) => one.name);
    expect(new Set(documented('listAssets'))).toEqual(read(AssetQueryDto));
    expect(new Set(documented('listComputers'))).toEqual(read(ComputerQueryDto));
    expect(new Set(documented('listTagKeys'))).toEqual(read(TagKeyQueryDto));
    expect(new Set(documented('listAuditEvents'))).toEqual(read(AuditEventQueryDto));
    expect(new Set(documented('listCategories'))).toEqual(read(PageQueryDto));
    expect(['getAsset', 'getComputer'].flatMap(documented)).toEqual(['expand', 'asOf', 'expand', 'asOf']);
    expect(['updateAsset', 'updateAssets', 'issueToken', 'getHealth', 'getMe'].flatMap(documented)).toEqual([]);
  });

  it('every header of requests and responses', () => {
    expect(count(headers, ({ description, example }) => said(description) && example !== undefined)).toEqual(
      all(headers.length),
    );
    const sent = parameters.filter(([, one]) => one.in === 'header').map(([, one]) => one.name);
    expect([...new Set(sent)].sort()).toEqual(REQUEST_HEADERS);
    const given = headers.map(([place]) => place.split(' ').at(-1));
    expect([...new Set(given)].sort()).toEqual([...RESPONSE_HEADERS].sort());
    const withId = parameters.filter(([, one]) => one.name === 'X-Request-Id');
    expect(withId).toHaveLength(operations.length);
  });

  it('every body and each of its members', () => {
    expect(count(bodies, ({ examples = {} }) => Object.keys(examples).length > 0)).toEqual(all(bodies.length));
    const describedAt = (schema: Schema) =>
      said(resolve<Schema>(contract, schema as Schema & { $ref: string }).description);
    expect(count(members, (schema) => said(schema.description) || describedAt(schema))).toEqual(all(members.length));
  });

  it('every code with the example of the problem table', () => {
    const given = new Set([...operations.flatMap(codesOfOperation), ...responses.flatMap(([, one]) => codesOf(one))]);
    expect(ERROR_CODES.filter((code) => !given.has(code))).toEqual(OF_NO_OPERATION);
    const listed = contract.components.schemas['Problem']?.properties?.['code']?.['x-extensible-enum'];
    expect([...(listed ?? [])].sort()).toEqual([...ERROR_CODES].sort());
    for (const code of ERROR_CODES.filter((one) => !OF_NO_OPERATION.includes(one))) {
      const { instance, ...example } = problemExample(code, 'http://127.0.0.1:3000');
      const { [code]: plain, [`issueToken.${code}`]: ofToken } = contract.components.examples;
      if (plain) expect(plain.value).toEqual({ ...example, instance });
      if (ofToken) expect(ofToken.value).toMatchObject({ ...example, instance: '/oauth/token' });
      expect([code, plain !== undefined || ofToken !== undefined]).toEqual([code, true]);
    }
  });

  it('every code at its status in the problem table', () => {
    const misplaced = operations.flatMap((one) =>
      Object.entries(one.operation.responses).flatMap(([status, response]) =>
        (status < '400' ? [] : codesOf(response)).filter(
          (code) => String(PROBLEMS[code as ErrorCode].status) !== status,
        ),
      ),
    );
    expect(misplaced).toEqual([]);
  });

  it.each(operations.map((one) => [named(one), one] as const))('every code that %s can return', (_, one) => {
    const scopes = (one.operation.security ?? []).flatMap((way) => way['clientCredentials'] ?? []);
    const needsToken = (one.operation.security ?? []).some((way) => 'clientCredentials' in way);
    const ofToken = BEARER_PROBLEMS.filter((code) => scopes.length > 0 || code !== 'insufficient_scope');
    const isList = (one.operation.parameters ?? []).some(
      (parameter) => 'name' in parameter && parameter.name === 'pageCursor',
    );
    const expected: readonly ErrorCode[] = [
      ...(['validation_failed', 'headers_too_large', 'internal_error'] as const),
      ...(needsToken ? ofToken : []),
      ...(needsToken && one.method === 'PATCH' ? WRITE_PROBLEMS : []),
      ...(one.path.includes('{id}') ? (['not_found'] as const) : []),
      ...(isList ? (['invalid_cursor'] as const) : []),
    ];
    expect(codesOfOperation(one)).toEqual(expect.arrayContaining([...expected]));
  });
});

describe('The contract', () => {
  it('forbids unknown members in every request body except the token form (RFC 6749)', () => {
    const roots = operations.flatMap(({ operation }) => Object.values(operation.requestBody?.content ?? {}));
    const open = new Set<string>();
    const visit = (schema: Schema): void => {
      const at = resolve<Schema>(contract, schema as Schema & { $ref: string });
      if (at.properties && at.additionalProperties !== false) open.add(schema.$ref ?? 'inline');
      for (const inner of [
        ...Object.values(at.properties ?? {}),
        ...(at.allOf ?? []),
        ...(at.items ? [at.items] : []),
      ]) {
        visit(inner);
      }
    };
    for (const { schema } of roots) visit(schema);
    expect([...open]).toEqual(['#/components/schemas/TokenRequest']);
  });

  it('marks types and origins of owners as extensible', () => {
    const { Asset, Problem } = contract.components.schemas;
    for (const schema of [
      Asset?.properties?.['type'],
      Asset?.properties?.['ownerSource'],
      Problem?.properties?.['code'],
    ]) {
      expect(schema?.['x-extensible-enum']?.length).toBeGreaterThan(1);
      expect(schema?.enum).toBeUndefined();
      expect(schema?.description).toContain('new values may be added');
    }
  });
});
