import { type RawUniversalConfig } from '@redocly/openapi-core';

/** Headers of every response. */
const EVERY_RESPONSE = ['X-Request-Id', 'X-Content-Type-Options', 'Cache-Control'];

type Node = Readonly<Record<string, unknown>>;

/** The pointer of a node, and a function that follows references. */
interface Surroundings {
  readonly pointer: string;
  readonly follow: (reference: unknown) => Node;
}

/** A rule of this project for one kind of node. Returns a message for a violation. */
type NodeRule = (node: Node, surroundings: Surroundings) => string | null;

const missing = (node: Node, ...names: string[]) => names.filter((name) => !(name in node));

const schemaLimits: NodeRule = (schema) => {
  const has = (...names: string[]) => missing(schema, ...names).length < names.length;
  // A reference has the limits of its target.
  if (has('allOf')) return null;
  if (schema['type'] === 'string' && !has('maxLength', 'enum', 'format', 'pattern', 'x-unbounded'))
    return 'a string needs a limit or x-unbounded';
  if (schema['type'] === 'integer' && !(has('minimum') && has('maximum'))) return 'an integer needs both limits';
  if (schema['type'] === 'array' && !has('maxItems', 'x-unbounded')) return 'an array needs maxItems or x-unbounded';
  return null;
};

const parameterExample: NodeRule = (parameter, { follow }) =>
  'example' in parameter || 'example' in follow(parameter['schema'] ?? {}) ? null : 'a parameter needs an example';

const needs =
  (what: string, ...names: string[]): NodeRule =>
  (node) => {
    const [first] = missing(node, ...names);
    return first === undefined ? null : `${what} needs ${first}`;
  };

const mediaTypeExamples: NodeRule = ({ examples }) =>
  Object.keys((examples ?? {}) as object).length > 0 ? null : 'a body needs an example';

/** Generators derive a class from each inline enum, and their names collide. */
const enumIsNamed: NodeRule = (schema, { pointer }) =>
  !('enum' in schema) || /^#\/components\/schemas\/[^/]+$/.test(pointer)
    ? null
    : 'an enum needs a name: declare it by namedEnum';

/** An enum of null alone has no value in Java, Rust and Kotlin. Beside other values, null becomes one of them in Go. */
const enumOfTexts: NodeRule = ({ enum: values }) =>
  values === undefined || (Array.isArray(values) && values.length > 1 && !values.includes(null))
    ? null
    : 'an enum needs at least two values, and none is null';

/**
 * With `type` beside a reference openapi-python-client drops null. Without either, `nullable` has nothing to refer to.
 */
const nullableForm: NodeRule = ({ nullable, type, allOf }) =>
  nullable !== true || (type === undefined) === (allOf !== undefined)
    ? null
    : 'nullable stands beside type or allOf, not both: a nullable namedEnum is spread without `type`, any other member names its type';

/** openapi-generator for Java writes `List<String>.class` and `Map<String, String>.class`, which do not compile. */
const alternativesAreClasses: NodeRule = ({ anyOf, oneOf }, { follow }) =>
  [...((anyOf ?? []) as Node[]), ...((oneOf ?? []) as Node[])]
    .map((alternative) => follow(alternative))
    .some(({ type, properties }) => type === 'array' || (type === 'object' && properties === undefined))
    ? 'an alternative is no array and no map: declare the member as ANY_VALUE'
    : null;

/** Nest shows a nullable member without a type as an object. */
const objectShaped: NodeRule = ({ type, properties, additionalProperties }) =>
  type === 'object' && properties === undefined && additionalProperties === undefined
    ? 'an object needs properties; a nullable member names its type'
    : null;

const JSON_BODY = 'application/json';
const MERGE_PATCH = 'application/merge-patch+json';

/** Null keeps a value in one media type and clears it in the other. Generators use the first by default. */
const nullToldApart: NodeRule = ({ content }, { follow }) => {
  const { [JSON_BODY]: json, [MERGE_PATCH]: mergePatch } = content as Record<string, { schema: { $ref?: string } }>;
  if (!mergePatch) return null;
  if (Object.keys(content as object)[0] !== JSON_BODY) return 'application/json must come first';
  if (json?.schema.$ref === mergePatch.schema.$ref) return 'a merge patch needs a schema of its own';
  return /\bnull\b.*\bclear/.test(String(follow(mergePatch.schema)['description']))
    ? null
    : 'the schema of a merge patch must say that null clears';
};

/** openapi-generator for Rust writes the path of such a type twice. */
const formWithoutReferences: NodeRule = ({ content }, { follow }) => {
  const form = (content as Record<string, { schema: unknown }>)['application/x-www-form-urlencoded'];
  const members = Object.values((follow(form?.schema ?? {})['properties'] ?? {}) as Record<string, Node>);
  return members.some((member) => '$ref' in member || 'allOf' in member)
    ? 'a form cannot refer to named schemas'
    : null;
};

/** Invalid values are replaced, so clients must not refuse to send them. */
const requestIdTaken: NodeRule = ({ name, schema }) =>
  name === 'X-Request-Id' && missing(schema as Node, 'pattern', 'maxLength').length < 2
    ? 'X-Request-Id declares no pattern and no limit'
    : null;

/** Beside another alternative, `{}` makes generators demand credentials. */
const noTokenSaidPlainly: NodeRule = ({ security }) =>
  ((security ?? []) as Node[]).some((way) => Object.keys(way).length === 0)
    ? 'an operation without a token needs an empty list of ways in'
    : null;

/** The linter's own rule on unused components omits these. */
const schemesUsed: NodeRule = ({ components, paths }) => {
  const operations = Object.values(paths as Record<string, Node>).flatMap((path) => Object.values(path) as Node[]);
  const used = new Set(operations.flatMap(({ security }) => ((security ?? []) as Node[]).flatMap(Object.keys)));
  const { securitySchemes = {} } = components as { securitySchemes?: object };
  const unused = Object.keys(securitySchemes).filter((name) => !used.has(name));
  return unused.length === 0 ? null : `no operation uses the security scheme ${unused.join(', ')}`;
};

type LinkingOperation = Node & {
  readonly operationId: string;
  readonly parameters?: readonly Node[];
  readonly responses: Readonly<Record<string, { readonly links?: Readonly<Record<string, Node>> }>>;
};

const linksResolve: NodeRule = ({ paths }) => {
  const operations = Object.values(paths as Record<string, Node>).flatMap((path) =>
    Object.values(path).map((operation) => operation as LinkingOperation),
  );
  const named = new Map(operations.map((operation) => [operation.operationId, operation]));
  for (const { responses } of operations) {
    for (const { operationId, parameters } of Object.values(responses).flatMap(({ links = {} }) =>
      Object.values(links),
    )) {
      const taken = named.get(operationId as string)?.parameters ?? [];
      const unknown = Object.keys(parameters as object).find((name) => !taken.some((one) => one['name'] === name));
      if (!named.has(operationId as string)) return `no operation has the name ${String(operationId)} of a link`;
      if (unknown) return `${String(operationId)} has no parameter ${unknown}, which a link gives it`;
    }
  }
  return null;
};

/** Each rule with the kind of node that it checks. */
const HOUSE_RULES: Readonly<Record<string, readonly [kind: string, rule: NodeRule]>> = {
  'enum-named': ['Schema', enumIsNamed],
  'enum-of-texts': ['Schema', enumOfTexts],
  'nullable-form': ['Schema', nullableForm],
  'object-shaped': ['Schema', objectShaped],
  'alternatives-are-classes': ['Schema', alternativesAreClasses],
  'null-told-apart': ['RequestBody', nullToldApart],
  'form-without-references': ['RequestBody', formWithoutReferences],
  'request-id-taken': ['Parameter', requestIdTaken],
  'no-token-said-plainly': ['Operation', noTokenSaidPlainly],
  'security-schemes-used': ['Root', schemesUsed],
  'links-resolve': ['Root', linksResolve],
  'schema-limits': ['Schema', schemaLimits],
  'parameter-example': ['Parameter', parameterExample],
  'header-described': ['Header', needs('a header', 'description', 'schema', 'example')],
  'media-type-examples': ['MediaType', mediaTypeExamples],
  'operation-security': ['Operation', needs('an operation', 'security')],
  'operation-tags': ['Operation', needs('an operation', 'tags')],
  'response-headers': ['Response', needs('a response', 'headers')],
};

interface Reporter {
  readonly report: (problem: { message: string; location: unknown }) => void;
  readonly location: { readonly pointer: string };
  readonly resolve: (reference: unknown) => { readonly node?: Node };
}

const visitors = Object.fromEntries(
  Object.entries(HOUSE_RULES).map(([name, [kind, rule]]) => [
    name,
    () => ({
      [kind]: (node: Node, { report, location, resolve }: Reporter) => {
        const follow = (reference: unknown) => resolve(reference).node ?? {};
        const message = rule(node, { pointer: location.pointer, follow });
        if (message !== null) report({ message, location });
      },
    }),
  ]),
);

/** The linter's recommended rules and those for a complete contract. All violations are errors. */
export const LINT_CONFIG = {
  extends: ['recommended'],
  plugins: [{ id: 'house', rules: { oas3: visitors } }],
  rules: {
    ...Object.fromEntries(Object.keys(HOUSE_RULES).map((name) => [`house/${name}`, 'error'])),
    // The rule refuses the only form of a nullable reference that all generators accept. `house/nullable-form` requires
    // that form.
    'nullable-type-sibling': 'off',
    'no-unused-components': 'error',
    'operation-description': 'error',
    'operation-singular-tag': 'error',
    'operation-tag-defined': 'error',
    'parameter-description': 'error',
    'path-params-defined': 'error',
    'scalar-property-missing-example': 'error',
    'tag-description': 'error',
    'response-contains-header': {
      severity: 'error',
      names: { '2XX': EVERY_RESPONSE, '4XX': EVERY_RESPONSE, '5XX': EVERY_RESPONSE },
    },
  },
} as unknown as RawUniversalConfig;
