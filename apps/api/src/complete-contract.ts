import type { OpenAPIObject } from '@nestjs/swagger';
import { tokenProblemExamples } from '#libs/auth';
import { type ErrorCode, ERROR_CODES } from '#libs/kernel';
import {
  PROBLEMS,
  PUBLIC_ANSWERS,
  REQUEST_ID_PARAMETER,
  headerComponents,
  problemExample,
  problemResponse,
} from '#libs/platform';

type Components = NonNullable<OpenAPIObject['components']>;
type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;

/** Answers that no operation gives, because the request was for none; by their name among the components. */
const ANSWERS_OF_NO_OPERATION: Readonly<Record<string, ErrorCode>> = {
  MalformedRequest: 'validation_failed',
  UnknownPath: 'not_found',
  MethodNotAllowed: 'method_not_allowed',
};

/** Adds to the document of the routes what all of them have in common. */
export function completeContract(document: OpenAPIObject, baseUrl: string): OpenAPIObject {
  const examples = {
    ...Object.fromEntries(ERROR_CODES.map((code) => [code, problemExample(code, baseUrl)])),
    ...tokenProblemExamples(baseUrl),
  };
  const responses = Object.entries(ANSWERS_OF_NO_OPERATION).map(([name, code]) => [
    name,
    problemResponse(PUBLIC_ANSWERS, PROBLEMS[code].status, [code]),
  ]);
  for (const operation of operationsOf(document)) {
    operation.parameters = [...(operation.parameters ?? []), { $ref: '#/components/parameters/X-Request-Id' }];
    // Said outright: no token is needed where none is mentioned.
    operation.security ??= [];
  }
  document.components = {
    ...document.components,
    parameters: { 'X-Request-Id': REQUEST_ID_PARAMETER },
    headers: headerComponents() as NonNullable<Components['headers']>,
    responses: Object.fromEntries(responses) as NonNullable<Components['responses']>,
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

/** Headers and examples that no answer mentions would only be read in vain. */
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
