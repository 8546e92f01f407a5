import type { OpenAPIObject } from '@nestjs/swagger';
import { tokenProblemExamples } from '#libs/auth';
import { ERROR_CODES } from '#libs/kernel';
import { REQUEST_ID_PARAMETER, headerComponents } from '#libs/platform/openapi';
import { problemExample } from '#libs/platform/problems';

type Components = NonNullable<OpenAPIObject['components']>;
type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;

/** Adds the parts that all routes share to the generated document. */
export function completeContract(document: OpenAPIObject, baseUrl: string): OpenAPIObject {
  const examples = {
    ...Object.fromEntries(ERROR_CODES.map((code) => [code, problemExample(code, baseUrl)])),
    ...tokenProblemExamples(baseUrl),
  };
  for (const operation of operationsOf(document)) {
    operation.parameters = [...(operation.parameters ?? []), { $ref: '#/components/parameters/X-Request-Id' }];
    // An explicit empty list: the route needs no token.
    operation.security ??= [];
  }
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

function operationsOf(document: OpenAPIObject): Operation[] {
  return Object.values(document.paths).flatMap(({ get, post, patch }) =>
    [get, post, patch].filter((operation) => operation !== undefined),
  );
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
