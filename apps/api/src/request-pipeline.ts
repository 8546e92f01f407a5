import { type Provider } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AuthenticateAndChargeGuard, ScopeGuard } from '#libs/auth';
import {
  type ApiServerAdapter,
  HttpMetrics,
  ProblemFilter,
  acceptTarget,
  logAccess,
  whenServed,
} from '#libs/platform/http/server';
import { StrictQueryPipe, openContext } from '#libs/platform/http';
import { traceRequest } from '#libs/platform/observability';
import type { Logger } from 'pino';

/**
 * THE order in which a request is judged (decisions, section 1). Whatever fails first is the answer.
 *
 *   1. context       request id, log line                        -
 *   2. target        well-formed request line and Host           400 validation_failed
 *   3. route         path and method (Express's router)          404 not_found, 405 method_not_allowed
 *   4. bearer token  who calls; in the same step                 401 token_…
 *   5. rate limit    the request is charged to its bucket        429 rate_limited
 *   6. scope         whether the caller may                      403 insufficient_scope
 *   7. idempotency   of a write (`@Idempotent()`): the key, the  400 validation_failed, 413, 415,
 *                    body, and the answer that the key has       replay, 409 idempotency_…
 *   8. query, path   every parameter, strictly                   400 validation_failed, invalid_cursor
 *   9. the route     its input, existence, the domain's rules    400, 404 not_found, 403 resource_not_writable, 412
 *
 * So a body is never read before the caller is known. From the look at the key to the record of the answer everything a
 * write does is one transaction. Every failure, wherever, goes through the one problem filter.
 */
export const requestPipeline: readonly Provider[] = [
  { provide: APP_GUARD, useClass: AuthenticateAndChargeGuard },
  { provide: APP_GUARD, useClass: ScopeGuard },
  { provide: APP_PIPE, useClass: StrictQueryPipe },
  { provide: APP_FILTER, useExisting: ProblemFilter },
];

/** The steps before the router: they must also see what no route answers. */
export function applyFirstSteps(app: NestExpressApplication, log: Logger, isStopping: () => boolean): void {
  const problems = app.get(ProblemFilter);
  const metrics = app.get(HttpMetrics);
  const server = app.getHttpAdapter() as unknown as ApiServerAdapter;
  server.whenRefused((refused) => {
    logAccess(log, refused);
    metrics.count(refused);
  });
  server.beforeRouting((request, response, route) => {
    openContext(request, response);
    // While the process stops, clients are told to open their next connection elsewhere.
    if (isStopping()) response.setHeader('Connection', 'close');
    metrics.begin();
    const trace = traceRequest(request);
    request.context.traceId = trace?.traceId ?? null;
    whenServed(request, response, (served) => {
      logAccess(log, served);
      metrics.end(served);
      trace?.end(served);
    });
    try {
      acceptTarget(request);
    } catch (error) {
      // Where one request ends and the next begins may be as doubtful as the rest.
      response.setHeader('Connection', 'close');
      problems.answer(error, request, response);
      return;
    }
    if (trace) trace.run(route);
    else route();
  });
}
