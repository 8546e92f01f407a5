import { type Type, applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { type AnswerHeaders, EVERY_ANSWER, chargedAnswer, headerReferences } from './api-headers';

/** Examples of a response, by a name that describes the case. */
export type AnswerExamples<Body> = Readonly<Record<string, { readonly summary: string; readonly value: Body }>>;

interface Answer<Body> {
  readonly description: string;
  readonly examples: AnswerExamples<Body>;
  /** Headers beyond those of every response. */
  readonly headers?: AnswerHeaders;
  /** False for a route without a rate limit. */
  readonly charged?: boolean;
}

/** Documents the only success of a route, always 200, with its headers and examples. */
export function ApiAnswer<Body>(type: Type<Body>, answer: Answer<Body>): MethodDecorator {
  const { description, examples, headers = {}, charged = true } = answer;
  return applyDecorators(
    ApiExtraModels(type),
    ApiResponse({
      status: 200,
      description,
      headers: headerReferences({ ...EVERY_ANSWER, ...(charged ? chargedAnswer('always') : {}), ...headers }),
      content: { 'application/json': { schema: { $ref: getSchemaPath(type) }, examples: { ...examples } } },
    }),
  );
}
