import { type Type, applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import type { ErrorCode } from '#libs/kernel';
import { PROBLEMS } from '../problems/problem-table';
import { ProblemDto } from './problem.dto';
import { PROBLEM_MEDIA_TYPE } from '../problems/problem';
import { type ResponseHeaders, EVERY_RESPONSE, chargedHeaders, headerReferences, retryHeader } from './api-headers';

/** The form of the problems of one kind of route. */
export interface ProblemResponses {
  readonly body: Type;
  readonly mediaTypes: readonly string[];
  /** Name of the code's example in the contract. */
  exampleOf(this: void, code: ErrorCode): string;
  headersOf(this: void, status: number, codes: readonly ErrorCode[]): ResponseHeaders;
}

/** Documents the problems of a route: one response for each status, with an example for each code. */
export function ApiProblemsAs(responses: ProblemResponses, codes: readonly ErrorCode[]): MethodDecorator {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = PROBLEMS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return applyDecorators(
    ApiExtraModels(responses.body),
    ...[...byStatus].map(([status, sameStatus]) =>
      ApiResponse({ status, ...problemResponse(responses, status, sameStatus) }),
    ),
  );
}

/** One response of the contract: all codes of one status, each with its cause and an example. */
export function problemResponse(responses: ProblemResponses, status: number, codes: readonly ErrorCode[]) {
  const examples = codes.map((code) => [code, { $ref: `#/components/examples/${responses.exampleOf(code)}` }] as const);
  const content = { schema: { $ref: getSchemaPath(responses.body) }, examples: Object.fromEntries(examples) };
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].cause}`).join('\n\n'),
    headers: headerReferences({ ...EVERY_RESPONSE, ...retryHeader(codes), ...responses.headersOf(status, codes) }),
    content: Object.fromEntries(responses.mediaTypes.map((mediaType) => [mediaType, content])),
  };
}

const PLAIN: Omit<ProblemResponses, 'headersOf'> = {
  body: ProblemDto,
  mediaTypes: [PROBLEM_MEDIA_TYPE],
  exampleOf: (code) => code,
};

/** Problems of routes without a token, which have no rate limit. */
export const PUBLIC_RESPONSES: ProblemResponses = {
  ...PLAIN,
  headersOf: (status) => (status === 405 ? { Allow: 'always' } : {}),
};

/**
 * Problems of routes behind a bearer token. After the rate limit was checked, every response shows the remaining
 * tokens.
 */
const BEARER_RESPONSES: ProblemResponses = {
  ...PLAIN,
  headersOf: (status) => {
    if (status === 401) return { 'WWW-Authenticate': 'always' };
    if (status === 431) return {};
    if (status >= 500) return chargedHeaders('sometimes');
    return { ...chargedHeaders('always'), ...(status === 403 ? { 'WWW-Authenticate': 'sometimes' } : {}) };
  },
};

/** Codes of every route. */
const EVERY_PROBLEM: readonly ErrorCode[] = ['headers_too_large', 'internal_error'];

/** Codes of every route behind a bearer token. */
const TOKEN_PROBLEMS: readonly ErrorCode[] = [
  'token_missing',
  'token_invalid',
  'token_expired',
  'token_superseded',
  'rate_limited',
  ...EVERY_PROBLEM,
  'service_unavailable',
];

/** Codes of every route behind a scope. */
export const BEARER_PROBLEMS: readonly ErrorCode[] = [...TOKEN_PROBLEMS, 'insufficient_scope'];

/** Documents the problems of a route that takes any bearer token: the common ones and its own. */
export const ApiAnyTokenProblems = (...codes: readonly ErrorCode[]): MethodDecorator =>
  ApiProblemsAs(BEARER_RESPONSES, [...codes, ...TOKEN_PROBLEMS]);

/** Documents the problems of a route behind a scope: the common ones and its own. */
export const ApiProblems = (...codes: readonly ErrorCode[]): MethodDecorator =>
  ApiProblemsAs(BEARER_RESPONSES, [...codes, ...BEARER_PROBLEMS]);

/** Documents the problems of a route without a token. */
export const ApiPublicProblems = (...codes: readonly ErrorCode[]): MethodDecorator =>
  ApiProblemsAs(PUBLIC_RESPONSES, [...codes, ...EVERY_PROBLEM]);
