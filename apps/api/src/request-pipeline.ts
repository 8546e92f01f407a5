import { type Provider } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { BearerTokenGuard, ScopeGuard } from '#libs/auth';
import { ProblemFilter, StrictQueryPipe, acceptTarget, logAccess, openContext } from '#libs/platform';
import type { NextFunction, Request, Response } from 'express';
import type { Logger } from 'pino';

/**
 * THE order in which a request is judged (decisions, section 1). Whatever fails first is the answer.
 *
 *   1. context       request id, log line                        -
 *   2. target        well-formed request line and Host           400 validation_failed
 *   3. route         path and method (Express's router)          404 not_found, 405 method_not_allowed
 *   4. bearer token  who calls                                   401 token_…
 *   5. scope         whether the caller may                      403 insufficient_scope
 *   6. query, path   every parameter, strictly                   400 validation_failed, invalid_cursor
 *   7. the route     existence and the rules of the domain       404 not_found, …
 *
 * A body is read by its route only, so never before the caller is known. Every failure, wherever, goes through the one
 * problem filter.
 */
export const requestPipeline: readonly Provider[] = [
  { provide: APP_GUARD, useClass: BearerTokenGuard },
  { provide: APP_GUARD, useClass: ScopeGuard },
  { provide: APP_PIPE, useClass: StrictQueryPipe },
  { provide: APP_FILTER, useExisting: ProblemFilter },
];

/** The steps before the router, as plain middleware: they must also see what no route answers. */
export function applyFirstSteps(app: NestExpressApplication, log: Logger, isStopping: () => boolean): void {
  const problems = app.get(ProblemFilter);
  app.use((request: Request, response: Response, next: NextFunction) => {
    openContext(request, response);
    // While the process stops, clients are told to open their next connection elsewhere.
    if (isStopping()) response.setHeader('Connection', 'close');
    logAccess(log, request, response);
    try {
      acceptTarget(request);
    } catch (error) {
      problems.answer(error, request, response);
      return;
    }
    next();
  });
}
