import { type Type, applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { type ResponseHeaders, EVERY_RESPONSE, chargedHeaders, headerReferences } from './api-headers';

/** Examples of a response, by a name that describes the case. */
export type BodyExamples<Body> = Readonly<Record<string, { readonly summary: string; readonly value: Body }>>;

/** An example of a body. */
export const example = <Body>(summary: string, value: Body): BodyExamples<Body>[string] => ({ summary, value });

/** The same list as a stream of lines, one JSON object each. */
export interface DocumentedStream {
  readonly lines: readonly Type[];
  readonly examples: BodyExamples<object>;
}

const MAX_TEXT = 4096;

/**
 * Operations that a response leads to, with the parameters that it gives them as expressions of OpenAPI, such as
 * `$response.body#/id`.
 */
type Links = Readonly<Record<string, Readonly<Record<string, string>>>>;

interface Success<Body> {
  readonly description: string;
  readonly examples: BodyExamples<Body>;
  /** Headers beyond those of every response. */
  readonly headers?: ResponseHeaders;
  /** False for a route without a rate limit. */
  readonly charged?: boolean;
  readonly links?: Links;
  readonly stream?: DocumentedStream;
}

/** Documents the only success of a route, always 200, with its headers and examples. */
export function ApiSuccess<Body>(type: Type<Body>, success: Success<Body>): MethodDecorator {
  const { description, examples, headers = {}, charged = true, stream, links } = success;
  return applyDecorators(
    ApiExtraModels(type, ...(stream?.lines ?? [])),
    ApiResponse({
      status: 200,
      description,
      headers: headerReferences({ ...EVERY_RESPONSE, ...(charged ? chargedHeaders('always') : {}), ...headers }),
      content: {
        'application/json': { schema: { $ref: getSchemaPath(type) }, examples: { ...examples } },
        ...(stream && { 'application/x-ndjson': streamContent(stream) }),
      },
      ...(links && { links: linkObjects(links) }),
    }),
  );
}

const linkObjects = (links: Links) =>
  Object.fromEntries(
    Object.entries(links).map(([operationId, parameters]) => [
      operationId,
      { operationId, parameters: { ...parameters } },
    ]),
  );

/** Documents the only success of a route that returns plain text. */
export function ApiTextSuccess({ description, examples }: Success<string>): MethodDecorator {
  return ApiResponse({
    status: 200,
    description,
    headers: headerReferences({ ...EVERY_RESPONSE, ...chargedHeaders('always') }),
    content: { 'text/plain': { schema: { type: 'string', maxLength: MAX_TEXT }, examples: { ...examples } } },
  });
}

/** OpenAPI 3.0 has no word for a sequence: the schema is that of one line. */
const streamContent = ({ lines, examples }: DocumentedStream) => ({
  schema: { oneOf: lines.map((line) => ({ $ref: getSchemaPath(line) })) },
  examples: { ...examples },
});
