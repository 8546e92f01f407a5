import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import type { ErrorCode } from '#libs/kernel';
import { PROBLEMS } from '../problems/problem-table';
import { ProblemDto } from '../problems/problem.dto';
import { PROBLEM_MEDIA_TYPE } from '../problems/problem';

/** Documents the problems a route answers, one response a status with an example for each code. */
export function ApiProblems(...codes: readonly ErrorCode[]): MethodDecorator & ClassDecorator {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = PROBLEMS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return applyDecorators(
    ApiExtraModels(ProblemDto),
    ...[...byStatus].map(([status, sameStatus]) =>
      ApiResponse({
        status,
        description: sameStatus.map((code) => `\`${code}\`: ${PROBLEMS[code].cause}`).join('\n\n'),
        content: {
          [PROBLEM_MEDIA_TYPE]: {
            schema: { $ref: getSchemaPath(ProblemDto) },
            examples: Object.fromEntries(sameStatus.map((code) => [code, { value: exampleOf(code) }])),
          },
        },
      }),
    ),
  );
}

function exampleOf(code: ErrorCode): object {
  const { status, title, example } = PROBLEMS[code];
  return {
    type: `/problems/${code}`,
    title,
    status,
    code,
    detail: example,
    instance: '/v1/…',
    requestId: '0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10',
  };
}

/** Codes that every route behind a bearer token can answer. */
export const BEARER_PROBLEMS: readonly ErrorCode[] = [
  'token_missing',
  'token_invalid',
  'token_expired',
  'token_superseded',
  'insufficient_scope',
  'rate_limited',
  'internal_error',
  'service_unavailable',
];
