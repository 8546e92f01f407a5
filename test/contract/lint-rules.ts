import { type RawUniversalConfig } from '@redocly/openapi-core';

/** What every answer carries. */
const EVERY_ANSWER = ['X-Request-Id', 'X-Content-Type-Options', 'Cache-Control'];

/** A rule of this house on one kind of node: a message for a node that breaks it. */
type NodeRule = (node: Readonly<Record<string, unknown>>) => string | null;

const missing = (node: Readonly<Record<string, unknown>>, ...names: string[]) =>
  names.filter((name) => !(name in node));

const schemaLimits: NodeRule = (schema) => {
  const has = (...names: string[]) => missing(schema, ...names).length < names.length;
  if (schema['type'] === 'string' && !has('maxLength', 'enum', 'format', 'pattern')) return 'a string needs a limit';
  if (schema['type'] === 'integer' && !(has('minimum') && has('maximum'))) return 'an integer needs both limits';
  if (schema['type'] === 'array' && !has('maxItems', 'x-unbounded')) return 'an array needs maxItems or x-unbounded';
  return null;
};

const parameterExample: NodeRule = (parameter) =>
  'example' in parameter || 'example' in ((parameter['schema'] ?? {}) as object)
    ? null
    : 'a parameter needs an example';

const needs =
  (what: string, ...names: string[]): NodeRule =>
  (node) => {
    const [first] = missing(node, ...names);
    return first === undefined ? null : `${what} needs ${first}`;
  };

const mediaTypeExamples: NodeRule = ({ examples }) =>
  Object.keys((examples ?? {}) as object).length > 0 ? null : 'a body needs an example';

/** Each rule and the kind of node that it looks at. */
const HOUSE_RULES: Readonly<Record<string, readonly [kind: string, rule: NodeRule]>> = {
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
  readonly location: unknown;
}

const visitors = Object.fromEntries(
  Object.entries(HOUSE_RULES).map(([name, [kind, rule]]) => [
    name,
    () => ({
      [kind]: (node: Readonly<Record<string, unknown>>, { report, location }: Reporter) => {
        const message = rule(node);
        if (message !== null) report({ message, location });
      },
    }),
  ]),
);

/** The linter's recommended rules and those that make the contract complete. Nothing is only a warning. */
export const LINT_CONFIG = {
  extends: ['recommended'],
  plugins: [{ id: 'house', rules: { oas3: visitors } }],
  rules: {
    ...Object.fromEntries(Object.keys(HOUSE_RULES).map((name) => [`house/${name}`, 'error'])),
    'operation-description': 'error',
    'operation-singular-tag': 'error',
    'operation-tag-defined': 'error',
    'parameter-description': 'error',
    'path-params-defined': 'error',
    'scalar-property-missing-example': 'error',
    'tag-description': 'error',
    'response-contains-header': {
      severity: 'error',
      names: { '2XX': EVERY_ANSWER, '4XX': EVERY_ANSWER, '5XX': EVERY_ANSWER },
    },
  },
} as unknown as RawUniversalConfig;

export const HOUSE_RULE_NAMES = Object.keys(HOUSE_RULES);
