import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import { RateLimited, ValidationFailed } from '#libs/kernel';
import { PROBLEM_MEDIA_TYPE } from '#libs/platform/problems';
import { ProblemFilter } from '#libs/platform/http/server';
import { clearRateLimitHeaders, setRateLimitHeaders } from '#libs/platform/throttling';
import type { Request, Response } from 'express';
import { FormInvalid } from '../domain/token-request-errors';
import { ClientNotAuthenticated } from '../domain/authentication-errors';
import { TokenRequestOutcomes, withOAuthMembers } from './token-problem';
import { usesBasic } from './token-request';

/** Sends errors of the token endpoint as problems with RFC 6749's members, which stock OAuth clients read. */
@Catch()
export class TokenProblemFilter implements ExceptionFilter {
  constructor(
    private readonly problems: ProblemFilter,
    private readonly outcomes: TokenRequestOutcomes,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    // Other clients would react to the challenge and hide `error` from their users.
    if (thrown instanceof ClientNotAuthenticated && usesBasic(request)) {
      response.setHeader('WWW-Authenticate', 'Basic realm="compliance-api", charset="UTF-8"');
    }
    if (thrown instanceof ClientNotAuthenticated) request.context.reason = thrown.reason;
    // The secret was replaced after the lookup. The response must equal that for any wrong secret.
    if (thrown instanceof ClientNotAuthenticated) clearRateLimitHeaders(response);
    if (thrown instanceof RateLimited) setRateLimitHeaders(response, 'token', thrown.charge);
    const error = thrown instanceof ValidationFailed ? new FormInvalid(thrown) : thrown;
    this.problems.send(error, request, response, (problem) => ({
      body: withOAuthMembers(problem),
      mediaType: readsProblems(request) ? PROBLEM_MEDIA_TYPE : 'application/json',
    }));
    this.outcomes.add(request.context.problemCode ?? 'internal_error');
  }
}

/** Stock OAuth clients accept only `application/json`. */
function readsProblems(request: Request): boolean {
  const ranges = (request.headers.accept ?? '').toLowerCase().split(',');
  const named = ranges.map((range) => range.replace(/;.*/, '').trim());
  return named.includes(PROBLEM_MEDIA_TYPE) || !named.includes('application/json');
}
