import fc from 'fast-check';
import { anyCharacter } from './any-character';
import {
  type Contract,
  type NamedOperation,
  type Parameter,
  type RequestBody,
  type Schema,
  operationsOf,
  resolve,
} from './contract-document';
import { HEADERS } from './hostile-headers';
import { type HostileKind, BODIES, JSON_VALUES, NAMES, PATHS, QUERIES, wrongValues } from './hostile-values';

/** A request with faults, ready to send. Each character is one byte. */
export interface HostileRequest {
  readonly operationId: string;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string;
}

/** Existing values of the tested service, by the name of a parameter or member, or by operation and name. */
export type ExistingValues = Readonly<Record<string, readonly string[]>>;

/** Public pages outside the contract. */
const PAGES = ['/', '/docs', '/docs/guides', '/problems', '/problems/{id}'];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];
const FORM = 'application/x-www-form-urlencoded';
const UUID = /^[0-9a-f-]{36}$/;

/** Node's parser refuses longer headers. It does not know the method, so its refusal of a HEAD has a body. */
const MOST_OF_HEAD = 10_000;

/** A name and a value, both as sent. */
type Pair = readonly [name: string, value: string];

/** A request before it is written. Faults change its parts. */
interface Draft extends Pick<HostileRequest, 'method' | 'headers'> {
  readonly path: string;
  readonly query: readonly Pair[];
  /** The end of the query, as sent. */
  readonly queryEnd: string;
  readonly form: readonly Pair[];
  /** A JSON body. Undefined if there is none. */
  readonly json: unknown;
  /** Changes the bytes of the body. */
  readonly rewrite: (body: string) => string;
}

type Fault = (draft: Draft) => Draft;

/** JSON as sent, in place of a value. */
class Raw {
  constructor(readonly text: string) {}
}

/**
 * Generates requests from the contract. Most have one fault beside existing values, so that the fault reaches the database.
 * A new operation or parameter needs nothing here.
 */
export class HostileRequests {
  private readonly cursors: readonly string[];
  private readonly queryNames: readonly string[];
  private readonly memberNames: readonly string[];

  constructor(
    private readonly contract: Contract,
    private readonly existing: ExistingValues,
  ) {
    this.cursors = Object.entries(existing).flatMap(([name, values]) => (name.endsWith('.pageCursor') ? values : []));
    const operations = operationsOf(contract);
    const names = operations.flatMap((one) => this.parametersOf(one, 'query').map(({ name }) => name));
    this.queryNames = [...new Set(names)];
    this.memberNames = [...new Set(operations.flatMap(({ operation }) => this.membersOf(operation.requestBody)))];
  }

  /** Generates any request of any operation, or of a page outside the contract. */
  any(): fc.Arbitrary<HostileRequest> {
    const pages = PAGES.map((path) => ({ method: 'GET', path, operation: { responses: {} } }));
    return fc
      .oneof(
        ...operationsOf(this.contract).map((one) => ({ weight: 6, arbitrary: this.requestOf(one) })),
        ...pages.map((one) => this.requestOf(one)),
      )
      .filter(({ method, target, headers }) => {
        const isLong = target.length + JSON.stringify(headers).length > MOST_OF_HEAD;
        return method !== 'HEAD' || !(isLong || 'Host' in headers);
      });
  }

  private requestOf(one: NamedOperation): fc.Arbitrary<HostileRequest> {
    const operationId = one.operation.operationId ?? one.path;
    const faults = fc.oneof(
      { weight: 8, arbitrary: fc.array(this.faultOf(one), { minLength: 1, maxLength: 1 }) },
      { weight: 2, arbitrary: fc.array(this.faultOf(one), { minLength: 0, maxLength: 3 }) },
    );
    return fc
      .tuple(this.orderly(one), faults)
      .map(([draft, all]) => ({ operationId, ...written(all.reduce((changed, fault) => fault(changed), draft)) }));
  }

  /** A request without a fault. It has few optional parameters, because many contradict each other. */
  private orderly(one: NamedOperation): fc.Arbitrary<Draft> {
    const pairsIn = (place: Parameter['in']): fc.Arbitrary<Pair>[] =>
      this.parametersOf(one, place).map((parameter) =>
        this.existingValue(one, parameter).map((value): Pair => [parameter.name, value]),
      );
    const query = pairsIn('query');
    const some = fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      { weight: 2, arbitrary: fc.subarray(query, { maxLength: Math.min(1, query.length) }) },
      { weight: 1, arbitrary: fc.subarray(query, { maxLength: Math.min(3, query.length) }) },
    );
    return fc
      .record({
        steps: fc.tuple(...pairsIn('path')),
        query: some.chain((chosen) => fc.tuple(...chosen)),
        headers: fc.tuple(...pairsIn('header')),
        body: this.existingBody(one.operation.requestBody),
      })
      .map(({ steps: filled, query: pairs, headers: sent, body }) => ({
        method: one.method,
        path: filled.reduce((path, [name, value]) => path.replace(`{${name}}`, encode(value)), one.path),
        query: pairs.map(([name, value]) => [name, encode(value)] as const),
        queryEnd: '',
        headers: { ...Object.fromEntries(sent), ...(body === null ? {} : { 'Content-Type': body.mediaType }) },
        form:
          body?.mediaType === FORM
            ? Object.entries(body.value as object).map(([name, value]) => [name, encode(String(value))] as const)
            : [],
        json: body === null || body.mediaType === FORM ? undefined : body.value,
        rewrite: (text: string) => text,
      }));
  }

  private existingValue({ operation }: NamedOperation, { name, schema }: Parameter): fc.Arbitrary<string> {
    if (name === 'Idempotency-Key') return fc.oneof({ weight: 9, arbitrary: fc.uuid() }, fc.constant('again'));
    const { type, enum: choices, items, example } = this.flat(schema);
    const allowed = choices ?? (items && this.flat(items).enum) ?? (type === 'boolean' ? ['true', 'false'] : [example]);
    const values = this.existing[`${operation.operationId}.${name}`] ?? this.existing[name] ?? allowed.map(String);
    return fc.constantFrom(...values);
  }

  /** One of the contract's examples, with existing values. */
  private existingBody(body?: RequestBody): fc.Arbitrary<{ mediaType: string; value: unknown } | null> {
    const examples = Object.entries(body?.content ?? {}).flatMap(([mediaType, { examples: named = {} }]) =>
      Object.values(named).map((one) => ({
        mediaType,
        value: this.withExisting(resolve<{ value: unknown }>(this.contract, one as { value: unknown }).value),
      })),
    );
    return examples.length === 0 ? fc.constant(null) : fc.constantFrom(...examples);
  }

  private withExisting(value: unknown, name = '', place = 0): unknown {
    const values = this.existing[name];
    if (typeof value === 'string') return values?.[place % values.length] ?? value;
    if (Array.isArray(value)) return value.map((item, index) => this.withExisting(item, name, index));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.withExisting(one, key, place)]));
  }

  private faultOf(one: NamedOperation): fc.Arbitrary<Fault> {
    const query = this.parametersOf(one, 'query');
    const contents = Object.keys(one.operation.requestBody?.content ?? {});
    const isForm = contents.includes(FORM);
    const when = (weight: number, isThere: boolean, arbitrary: () => fc.Arbitrary<Fault>) =>
      isThere ? [{ weight, arbitrary: arbitrary() }] : [];
    return fc.oneof(
      ...when(10, query.length > 0, () => this.wrongPair(query, 'query')),
      ...when(8, one.path.includes('{'), () => this.wrongStep(one)),
      ...when(10, isForm, () => this.wrongPair(this.formParameters(one), 'form')),
      ...when(12, contents.length > 0 && !isForm, () => this.wrongMember()),
      ...when(4, contents.length > 0, () => wrongBytes()),
      {
        weight: 3,
        arbitrary: fc.constantFrom(...QUERIES).map((queryEnd): Fault => (draft) => ({ ...draft, queryEnd })),
      },
      { weight: 5, arbitrary: wrongHeader() },
      {
        weight: 1,
        arbitrary: fc
          .constantFrom(...PATHS)
          .map((change): Fault => (draft) => ({ ...draft, path: change(draft.path) })),
      },
      { weight: 1, arbitrary: fc.constantFrom(...METHODS).map((method): Fault => (draft) => ({ ...draft, method })) },
    );
  }

  /** A parameter with a wrong value, a wrong name, or sent many times. */
  private wrongPair(parameters: readonly Parameter[], place: 'query' | 'form'): fc.Arbitrary<Fault> {
    const known = fc.oneof(
      ...parameters.map((one) => this.wrongValue(one).map((value): Pair[] => [[one.name, value]])),
    );
    const repeated = fc
      .tuple(known, fc.constantFrom(2, 50))
      .map(([pairs, times]) => Array.from({ length: times }, () => pairs).flat());
    const name = fc.oneof(
      fc.constantFrom(...NAMES),
      fc.constantFrom(...this.queryNames),
      fc
        .tuple(
          fc.constantFrom(...parameters),
          fc.constantFrom('[]', '[b]', '[b][c]', '[0]', '[__proto__]', '.b', '%00', '%'),
        )
        .map(([parameter, end]) => `${parameter.name}${end}`),
      fc.constantFrom(...parameters).map((parameter) => parameter.name.toUpperCase()),
    );
    const misnamed = fc.tuple(name, this.wrongValue()).map((pair): Pair[] => [pair]);
    return fc
      .oneof({ weight: 8, arbitrary: known }, { weight: 1, arbitrary: repeated }, { weight: 2, arbitrary: misnamed })
      .map((pairs) => (draft) => {
        const others = draft[place].filter(([other]) => other !== pairs[0]?.[0]);
        return { ...draft, [place]: [...others, ...pairs] };
      });
  }

  private wrongStep(one: NamedOperation): fc.Arbitrary<Fault> {
    const [parameter] = this.parametersOf(one, 'path');
    return this.wrongValue(parameter).map((value) => (draft) => {
      const steps = one.path
        .split('/')
        .map((step, index) => (step.startsWith('{') ? value : draft.path.split('/')[index]));
      return { ...draft, path: steps.join('/') };
    });
  }

  /** A member with a wrong value or beside another of the same name, and members that nobody knows. */
  private wrongMember(): fc.Arbitrary<Fault> {
    const value = fc.oneof(
      this.wrongText().map((text) => JSON.stringify(text)),
      fc.constantFrom(...JSON_VALUES),
      fc.json({ maxDepth: 3 }),
    );
    const name = fc.oneof(
      fc.constantFrom(...this.memberNames),
      fc.constantFrom(...NAMES),
      fc.string({ unit: anyCharacter }),
    );
    return fc
      .record({ at: fc.nat(12), value, name, kind: fc.constantFrom('replace', 'replace', 'add', 'double') })
      .map(({ at, value: text, name: added, kind }) => (draft) => {
        const change = (node: unknown): unknown => {
          if (kind === 'double') return new Raw(`${json(node)},${JSON.stringify(added)}:${text}`);
          return kind === 'add' && isObject(node) ? { ...node, [added]: new Raw(text) } : new Raw(text);
        };
        return { ...draft, json: changedAt(draft.json, at, change) };
      });
  }

  /** A value as sent: mostly of the parameter's kind, so that it passes the first checks. */
  private wrongValue(parameter?: Parameter): fc.Arbitrary<string> {
    const kind = parameter && this.kindOf(parameter);
    const items = kind === 'list' ? this.listOf(parameter) : this.wrongText(kind).map(encode);
    return fc.oneof(
      { weight: 8, arbitrary: items },
      { weight: 3, arbitrary: this.wrongText().map(encode) },
      {
        weight: 1,
        arbitrary: fc.constantFrom('%', '%2', '%zz', '%c3%28', '%ff', '%f4%90%80%80', '%u0041', '%C0%80', '+'),
      },
    );
  }

  private wrongText(kind?: HostileKind): fc.Arbitrary<string> {
    const ids = this.existing['id'] ?? [];
    return fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...wrongValues(kind, ids, this.cursors)) },
      { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 40 }) },
    );
  }

  private listOf(parameter: Parameter | undefined): fc.Arbitrary<string> {
    const { items = {} } = this.flat(parameter?.schema ?? {});
    const { enum: choices, example } = this.flat(items);
    const item = String(choices?.[0] ?? example);
    return fc.oneof(
      fc.constantFrom(',', `${item},`, `,${item}`, `${item},,${item}`, `${item},${item}`, `[${item}]`),
      fc.constantFrom(50, 101, 500).map((times) => Array.from({ length: times }, () => item).join(',')),
      fc
        .array(this.wrongText(UUID.test(item) ? 'uuid' : 'text').map(encode), { maxLength: 4 })
        .map((all) => all.join(',')),
    );
  }

  private kindOf({ name, schema }: Parameter): HostileKind {
    const { type, example } = this.flat(schema);
    if (name === 'pageCursor') return 'cursor';
    if (type === 'integer') return 'number';
    if (type === 'array') return 'list';
    if (typeof example !== 'string') return 'text';
    if (UUID.test(example)) return 'uuid';
    return /^\d{4}-\d\d-\d\d/.test(example) ? 'time' : 'text';
  }

  private parametersOf({ operation }: NamedOperation, place: Parameter['in']): Parameter[] {
    const all = (operation.parameters ?? []).map((one) => resolve<Parameter>(this.contract, one));
    return all.filter((one) => one.in === place && one.name !== 'X-Request-Id');
  }

  private formParameters({ operation }: NamedOperation): Parameter[] {
    const { properties = {} } = this.flat(operation.requestBody?.content[FORM]?.schema ?? {});
    return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', schema }));
  }

  /** The names of all members of a body, on all levels. */
  private membersOf(body?: RequestBody): string[] {
    const namesIn = (schema: Schema): string[] => {
      const { properties = {}, items } = this.flat(schema);
      return [
        ...Object.entries(properties).flatMap(([name, one]) => [name, ...namesIn(one)]),
        ...(items ? namesIn(items) : []),
      ];
    };
    return Object.values(body?.content ?? {}).flatMap(({ schema }) => namesIn(schema));
  }

  private flat(schema: Schema): Schema {
    const { allOf, ...own } = resolve<Schema>(this.contract, schema as Schema & { $ref: string });
    return (allOf ?? []).reduce<Schema>((all, part) => ({ ...this.flat(part), ...all }), own);
  }
}

const wrongBytes = (): fc.Arbitrary<Fault> =>
  fc
    .oneof(
      fc.constantFrom(...BODIES),
      fc.nat(400).map((length) => (body: string) => body.slice(0, length)),
    )
    .map((rewrite) => (draft) => ({ ...draft, rewrite }));

function wrongHeader(): fc.Arbitrary<Fault> {
  const bytes = fc.integer({ min: 0x20, max: 0xff }).filter((code) => code !== 0x7f);
  const any = fc.string({ maxLength: 40, unit: bytes.map((code) => String.fromCharCode(code)) });
  return fc.oneof(
    ...Object.entries(HEADERS).map(([name, values]) => {
      const value = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...values) }, any);
      // Node's client sends Host only once.
      const lines = name === 'Host' ? value : fc.oneof({ weight: 7, arbitrary: value }, fc.tuple(value, value));
      return lines.map((sent): Fault => (draft) => ({ ...draft, headers: { ...draft.headers, [name]: sent } }));
    }),
  );
}

function written({ method, path, query, queryEnd, headers, form, json: value, rewrite }: Draft) {
  const pairs = [...query.map((pair) => pair.join('=')), ...(queryEnd === '' ? [] : [queryEnd])].join('&');
  const body = value === undefined ? form.map((pair) => pair.join('=')).join('&') : bytesOf(json(value));
  return { method, target: pairs === '' ? path : `${path}?${pairs}`, headers, body: rewrite(body) };
}

const isObject = (value: unknown): value is object =>
  value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof Raw);

function json(value: unknown): string {
  if (value instanceof Raw) return value.text;
  if (Array.isArray(value)) return `[${value.map(json).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, one]) => `${JSON.stringify(name)}:${json(one)}`)
    .join(',')}}`;
}

/** Changes the value at a place, counted from the root in depth-first order. */
function changedAt(value: unknown, at: number, change: (node: unknown) => unknown): unknown {
  let place = 0;
  const walk = (node: unknown): unknown => {
    if (place++ === at) return change(node);
    if (Array.isArray(node)) return node.map(walk);
    if (!isObject(node)) return node;
    return Object.fromEntries(Object.entries(node).map(([name, one]) => [name, walk(one)]));
  };
  return value === undefined ? undefined : walk(value);
}

/** Encodes each lone surrogate as the three bytes that UTF-8 forbids. */
const encode = (value: string): string =>
  [...value].map((one) => (/^[\ud800-\udfff]$/.test(one) ? '%ED%A0%80' : encodeURIComponent(one))).join('');

const bytesOf = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
