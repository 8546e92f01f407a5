import type { OpenAPIObject } from '@nestjs/swagger';
import { tokenProblemExamples } from '#libs/auth';
import { ERROR_CODES } from '#libs/kernel';
import {
  ANY_VALUE_MARK,
  type Components,
  type Operation,
  type Parameter,
  REQUEST_ID_PARAMETER,
  WHOLE_BODY,
  headerComponents,
  operationsOf,
} from '#libs/platform/openapi';
import { SCHEMA_NAME } from '#libs/platform/input';
import { problemExample } from '#libs/platform/problems';

type Schema = NonNullable<Components['schemas']>[string];

/** Adds the parts that all routes share to the generated document. */
export function completeContract(document: OpenAPIObject, baseUrl: string): OpenAPIObject {
  const examples = {
    ...Object.fromEntries(ERROR_CODES.map((code) => [code, problemExample(code, baseUrl)])),
    ...tokenProblemExamples(baseUrl),
  };
  for (const operation of operationsOf(document)) {
    operation.parameters = [...(operation.parameters ?? []), { $ref: '#/components/parameters/X-Request-Id' }];
    moveWholeBody(operation);
    // An explicit empty list: the route needs no token.
    operation.security ??= [];
    for (const parameter of operation.parameters) if ('schema' in parameter) nameItems(parameter.schema, document);
  }
  for (const schema of Object.values(document.components?.schemas ?? {})) leaveAnyTypeOut(schema);
  document.components = {
    ...document.components,
    parameters: { 'X-Request-Id': REQUEST_ID_PARAMETER },
    headers: headerComponents() as NonNullable<Components['headers']>,
    examples: Object.fromEntries(
      Object.entries(examples).map(([name, value]) => [name, { summary: value.title, value }]),
    ),
  };
  return withoutUnused(document);
}

function moveWholeBody(operation: Operation & { [WHOLE_BODY]?: NonNullable<Operation['requestBody']> }): void {
  const { [WHOLE_BODY]: body } = operation;
  if (!body) return;
  operation.requestBody = body;
  delete operation[WHOLE_BODY];
}

/** Moves the values of an array that have a name into a schema of that name. */
function nameItems(schema: Parameter['schema'], { components }: OpenAPIObject): void {
  if (!schema || !('items' in schema) || !schema.items) return;
  const { [SCHEMA_NAME]: name, ...items } = schema.items as { [SCHEMA_NAME]?: string };
  if (name === undefined || !components) return;
  (components.schemas ??= {})[name] ??= items;
  schema.items = { $ref: `#/components/schemas/${name}` };
}

/** In OpenAPI a member without a type has any. */
function leaveAnyTypeOut(schema: Schema): void {
  if (!('properties' in schema)) return;
  for (const member of Object.values(schema.properties ?? {}) as Record<string, unknown>[]) {
    if (!(ANY_VALUE_MARK in member)) continue;
    delete member[ANY_VALUE_MARK];
    delete member['type'];
  }
}

/** Removes headers and examples that no response uses. */
function withoutUnused(document: OpenAPIObject): OpenAPIObject {
  const text = JSON.stringify(document);
  for (const kind of ['headers', 'examples'] as const) {
    const components = document.components?.[kind] ?? {};
    for (const name of Object.keys(components)) {
      if (!text.includes(`"#/components/${kind}/${name}"`)) delete components[name];
    }
  }
  return document;
}
