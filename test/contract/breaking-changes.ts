import {
  type Contract,
  type Header,
  type Operation,
  type Parameter,
  type Reference,
  type RequestBody,
  type Response,
  type SecurityRequirement,
  operationsOf,
  resolve,
} from './contract-document';
import { type Comparison, compareSchemas } from './schema-comparison';

/**
 * Lists the changes from `before` to `after` that a client would notice, one line each. Empty when the change is
 * additive (specification, Versioning). Compares only what is sent: texts, examples, tags, servers, schema names and
 * equivalent schemas do not count.
 */
export function breakingChanges(before: Contract, after: Contract): string[] {
  const found: string[] = [];
  const comparison: Comparison = { before, after, breaks: (place, what) => found.push(`${place} ${what}`) };
  for (const { method, path, operation } of operationsOf(before)) {
    const place = `${method} ${path}`;
    const now = after.paths[path]?.[method.toLowerCase()];
    if (now) compareOperations(comparison, place, operation, now);
    else comparison.breaks(place, 'is gone');
  }
  compareScopes(comparison);
  return found;
}

function compareOperations(comparison: Comparison, place: string, before: Operation, after: Operation): void {
  if (before.operationId !== after.operationId) {
    comparison.breaks(
      place,
      `has another operationId: ${after.operationId ?? 'none'}, not ${before.operationId ?? 'none'}`,
    );
  }
  compareSecurity(comparison, place, before.security ?? [], after.security ?? []);
  compareParameters(comparison, place, before, after);
  compareBodies(comparison, place, before.requestBody, after.requestBody);
  compareResponses(comparison, place, before, after);
}

/** A caller who had access must keep it: for each old way to authenticate, a new one must demand no more. */
function compareSecurity(
  comparison: Comparison,
  place: string,
  before: readonly SecurityRequirement[],
  after: readonly SecurityRequirement[],
): void {
  const isEnough = (held: SecurityRequirement, asked: SecurityRequirement) =>
    Object.entries(asked).every(
      ([scheme, scopes]) => scopes.every((scope) => held[scheme]?.includes(scope)) && scheme in held,
    );
  if (after.length === 0) return;
  for (const held of before.length > 0 ? before : [{}]) {
    if (after.some((asked) => isEnough(held, asked))) continue;
    comparison.breaks(place, `no longer lets in ${JSON.stringify(held)}`);
  }
}

function compareParameters(comparison: Comparison, place: string, before: Operation, after: Operation): void {
  const parametersOf = (contract: Contract, { parameters = [] }: Operation) =>
    new Map(
      parameters.map((one) => {
        const parameter = resolve<Parameter>(contract, one);
        return [`${parameter.in} ${parameter.name}`, parameter];
      }),
    );
  const [were, are] = [parametersOf(comparison.before, before), parametersOf(comparison.after, after)];
  for (const [name, parameter] of were) {
    const now = are.get(name);
    if (!now) comparison.breaks(`${place} ${name}`, 'is gone');
    else compareSchemas(comparison, `${place} ${name}`, 'request', [parameter.schema, now.schema]);
  }
  for (const [name, parameter] of are) {
    if (parameter.required && !were.get(name)?.required) comparison.breaks(`${place} ${name}`, 'is required now');
  }
}

function compareBodies(
  comparison: Comparison,
  place: string,
  before: RequestBody | undefined,
  after: RequestBody | undefined,
): void {
  const body = `${place} body`;
  if (after?.required && !before?.required) comparison.breaks(body, 'is required now');
  for (const [mediaType, { schema }] of Object.entries(before?.content ?? {})) {
    const now = after?.content[mediaType];
    if (!now) comparison.breaks(body, `is no longer taken as ${mediaType}`);
    else compareSchemas(comparison, `${body} ${mediaType}`, 'request', [schema, now.schema]);
  }
}

function compareResponses(comparison: Comparison, place: string, before: Operation, after: Operation): void {
  for (const [status, response] of Object.entries(before.responses)) {
    const now = after.responses[status];
    if (now) compareResponse(comparison, `${place} ${status}`, response, now);
    else comparison.breaks(`${place} ${status}`, 'is gone');
  }
  for (const status of Object.keys(after.responses)) {
    if (status < '400' && !(status in before.responses)) comparison.breaks(`${place} ${status}`, 'is a new success');
  }
  compareCodes(comparison, place, before, after);
}

function compareResponse(comparison: Comparison, place: string, before: Response, after: Response): void {
  for (const [name, header] of Object.entries(before.headers ?? {})) {
    const found = after.headers?.[name];
    if (!found) comparison.breaks(`${place} ${name}`, 'is gone');
    else compareHeaders(comparison, `${place} ${name}`, header, found);
  }
  for (const [mediaType, { schema }] of Object.entries(before.content ?? {})) {
    const now = after.content?.[mediaType];
    if (!now) comparison.breaks(place, `is no longer given as ${mediaType}`);
    else compareSchemas(comparison, `${place} ${mediaType}`, 'response', [schema, now.schema]);
  }
}

function compareHeaders(
  comparison: Comparison,
  place: string,
  before: Header | Reference,
  after: Header | Reference,
): void {
  const [was, is] = [resolve<Header>(comparison.before, before), resolve<Header>(comparison.after, after)];
  if (was.required && !is.required) comparison.breaks(place, 'can be absent now');
  compareSchemas(comparison, place, 'response', [was.schema, is.schema]);
}

/** A code must not move to another status, because programs decide by both. */
function compareCodes(comparison: Comparison, place: string, before: Operation, after: Operation): void {
  const statusesOf = ({ responses }: Operation) =>
    new Map(
      Object.entries(responses)
        .filter(([status]) => status >= '400')
        .flatMap(([status, { content = {} }]) =>
          Object.values(content).flatMap(({ examples = {} }) =>
            Object.keys(examples).map((code) => [code, status] as const),
          ),
        ),
    );
  const now = statusesOf(after);
  for (const [code, status] of statusesOf(before)) {
    if (now.has(code) && now.get(code) !== status) comparison.breaks(`${place} ${code}`, `can be ${now.get(code)} now`);
  }
}

/** A granted scope must not vanish, nor a scheme that some operation requires. */
function compareScopes({ before, after, breaks }: Comparison): void {
  const isNeeded = (scheme: string) =>
    operationsOf(before).some(
      ({ operation: { security = [] } }) => security.length > 0 && security.every((way) => scheme in way),
    );
  for (const [scheme, was] of Object.entries(before.components.securitySchemes)) {
    const is = after.components.securitySchemes[scheme];
    if (!is && isNeeded(scheme)) breaks(`scheme ${scheme}`, 'is gone');
    for (const scope of scopesOf(was)) if (is && !scopesOf(is).includes(scope)) breaks(`scope ${scope}`, 'is gone');
  }
}

function scopesOf(scheme: unknown): string[] {
  const { flows = {} } = scheme as { flows?: Record<string, { scopes: object }> };
  return Object.values(flows).flatMap(({ scopes }) => Object.keys(scopes));
}
