import { type Type, applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import type { ErrorCode } from '#libs/kernel';
import { PROBLEMS } from '../problems/problem-table';
import { ProblemDto } from './problem.dto';
import { PROBLEM_MEDIA_TYPE } from '../problems/problem';
import { type AnswerHeaders, EVERY_ANSWER, chargedAnswer, headerReferences, retryHeader } from './api-headers';

/** How the problems of a kind of route look, beyond what they all have in common. */
export interface ProblemAnswers {
  readonly body: Type;
  readonly mediaTypes: readonly string[];
  /** Name of the example of a code among those of the contract. */
  exampleOf(this: void, code: ErrorCode): string;
  headersOf(this: void, status: number, codes: readonly ErrorCode[]): AnswerHeaders;
}

/** Documents the problems that a route answers, one response a status with an example for each code. */
export function ApiProblemsAs(answers: ProblemAnswers, codes: readonly ErrorCode[]): MethodDecorator {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = PROBLEMS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return applyDecorators(
    ApiExtraModels(answers.body),
    ...[...byStatus].map(([status, sameStatus]) =>
      ApiResponse({ status, ...problemResponse(answers, status, sameStatus) }),
    ),
  );
}

/** One response of the contract: the codes of one status, each with its cause and an example. */
export function problemResponse(answers: ProblemAnswers, status: number, codes: readonly ErrorCode[]) {
  const examples = codes.map((code) => [code, { $ref: `#/components/examples/${answers.exampleOf(code)}` }] as const);
  const content = { schema: { $ref: getSchemaPath(answers.body) }, examples: Object.fromEntries(examples) };
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].cause}`).join('\n\n'),
    headers: headerReferences({ ...EVERY_ANSWER, ...retryHeader(codes), ...answers.headersOf(status, codes) }),
    content: Object.fromEntries(answers.mediaTypes.map((mediaType) => [mediaType, content])),
  };
}

const PLAIN: Omit<ProblemAnswers, 'headersOf'> = {
  body: ProblemDto,
  mediaTypes: [PROBLEM_MEDIA_TYPE],
  exampleOf: (code) => code,
};

/** Problems of what needs no token and is never limited. */
export const PUBLIC_ANSWERS: ProblemAnswers = {
  ...PLAIN,
  headersOf: (status) => (status === 405 ? { Allow: 'always' } : {}),
};

/** Problems behind a bearer token: from the look at the bucket on, every answer says what is left in it. */
const BEARER_ANSWERS: ProblemAnswers = {
  ...PLAIN,
  headersOf: (status) => {
    if (status === 401) return { 'WWW-Authenticate': 'always' };
    if (status === 431) return {};
    if (status >= 500) return chargedAnswer('sometimes');
    return { ...chargedAnswer('always'), ...(status === 403 ? { 'WWW-Authenticate': 'sometimes' } : {}) };
  },
};

/** Codes that every route can answer. */
const EVERY_PROBLEM: readonly ErrorCode[] = ['headers_too_large', 'internal_error'];

/** Codes that every route behind a bearer token can answer. */
export const BEARER_PROBLEMS: readonly ErrorCode[] = [
  'token_missing',
  'token_invalid',
  'token_expired',
  'token_superseded',
  'insufficient_scope',
  'rate_limited',
  ...EVERY_PROBLEM,
  'service_unavailable',
];

/** The problems of a route behind a bearer token: those of every such route, and its own. */
export const ApiProblems = (...codes: readonly ErrorCode[]): MethodDecorator =>
  ApiProblemsAs(BEARER_ANSWERS, [...codes, ...BEARER_PROBLEMS]);

/** The problems of a route that needs no token. */
export const ApiPublicProblems = (...codes: readonly ErrorCode[]): MethodDecorator =>
  ApiProblemsAs(PUBLIC_ANSWERS, [...codes, ...EVERY_PROBLEM]);
