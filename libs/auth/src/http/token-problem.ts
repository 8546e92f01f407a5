import { type ErrorCode } from '#libs/kernel';
import { Tally } from '#libs/platform/observability';
import { type Problem, problemExample } from '#libs/platform/problems';

/** RFC 6749's or RFC 8707's code for a problem code that neither defines. */
const OAUTH_ERRORS: Readonly<Partial<Record<ErrorCode, string>>> = {
  unsupported_audience: 'invalid_target',
  unsupported_media_type: 'invalid_request',
  payload_too_large: 'invalid_request',
  validation_failed: 'invalid_request',
  rate_limited: 'temporarily_unavailable',
  service_unavailable: 'temporarily_unavailable',
  internal_error: 'server_error',
};

export interface TokenProblem extends Problem {
  readonly error: string;
  readonly error_description: string;
}

/** What the description of an error may not hold (RFC 6749, 5.2): quotes, backslashes and all beyond ASCII. */
const NOT_DESCRIBABLE = /[^\x20\x21\x23-\x5b\x5d-\x7e]/gu;

/** Adds RFC 6749's members to a problem, for stock OAuth clients. */
export const withOAuthMembers = (problem: Problem): TokenProblem => ({
  error: OAUTH_ERRORS[problem.code] ?? problem.code,
  error_description: problem.detail.replace(NOT_DESCRIBABLE, '?'),
  ...problem,
});

/** Codes that the token endpoint sends with RFC 6749's members. */
export const TOKEN_PROBLEMS: readonly ErrorCode[] = [
  'invalid_request',
  'unsupported_grant_type',
  'invalid_scope',
  'unsupported_audience',
  'validation_failed',
  'invalid_client',
  'payload_too_large',
  'unsupported_media_type',
  'rate_limited',
  'internal_error',
  'service_unavailable',
];

/** Outcomes of token requests: a token, or one of the endpoint's problems. */
export class TokenRequestOutcomes extends Tally<string> {
  constructor() {
    super(['issued', ...TOKEN_PROBLEMS]);
  }
}

export const tokenExampleName = (code: ErrorCode): string => `issueToken.${code}`;

/** Examples of the token endpoint's problems in the contract, by name. */
export function tokenProblemExamples(baseUrl: string): Record<string, TokenProblem> {
  return Object.fromEntries(
    TOKEN_PROBLEMS.map((code) => [
      tokenExampleName(code),
      withOAuthMembers({ ...problemExample(code, baseUrl), instance: '/oauth/token' }),
    ]),
  );
}
