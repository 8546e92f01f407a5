import { type Provider } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AuthenticateAndChargeGuard, ScopeGuard } from '#libs/auth';
import { type ApiServerAdapter, HttpMetrics, ProblemFilter, acceptTarget } from '#libs/platform/http/server';
import { logAccess, openContext, whenServed } from '#libs/platform/http';
import { InputPipe } from '#libs/platform/input';
import { traceRequest } from '#libs/platform/observability';
import type { Logger } from 'pino';

/**
 * The order of checks for each request. The first failure is the response.
 *
 *   step             registered by               checks                        failure
 *   1. context       applyFirstSteps             request id, log line          -
 *   2. target        applyFirstSteps             request line and Host         400 validation_failed
 *   3. route         Express's router            path and method               404 not_found, 405 method_not_allowed
 *   4. bearer token  requestPipeline             the caller; one guard with 5  401 token_…
 *   5. rate limit    requestPipeline             the bucket of the client      429 rate_limited
 *   6. scope         requestPipeline             the caller may call this      403 insufficient_scope
 *   7. idempotency   `@Idempotent()` of a write  key, body, stored response    400 validation_failed, 413, 415, replay,
 *                                                                              409 idempotency_…
 *   8. input         requestPipeline             query, path and body          400 validation_failed
 *   9. the route     its controller              cursor, existence, rules      400 invalid_cursor, 403 resource_not_writable,
 *                                                                              404 not_found, 412 precondition_failed
 *
 * So a body is never read before the caller is known. A write is one transaction, from reading the key to storing its
 * response. The problem filter sends every failure.
 */
export const requestPipeline: readonly Provider[] = [
  { provide: APP_GUARD, useClass: AuthenticateAndChargeGuard },
  { provide: APP_GUARD, useClass: ScopeGuard },
  { provide: APP_PIPE, useClass: InputPipe },
  { provide: APP_FILTER, useExisting: ProblemFilter },
];

/** Steps before the router. They also see requests without a route. */
export function applyFirstSteps(app: NestExpressApplication, log: Logger, stop: { readonly begun: boolean }): void {
  const problems = app.get(ProblemFilter);
  const metrics = app.get(HttpMetrics);
  const server = app.getHttpAdapter() as unknown as ApiServerAdapter;
  server.whenRefused((refused) => {
    logAccess(log, refused);
    metrics.count(refused);
  });
  server.beforeRouting((request, response, route) => {
    openContext(request, response);
    // A stopping instance tells clients to open their next connection elsewhere.
    if (stop.begun) response.setHeader('Connection', 'close');
    metrics.begin();
    const trace = traceRequest(request);
    request.context.traceId = trace?.traceId ?? null;
    whenServed(request, response, (served) => {
      logAccess(log, served);
      metrics.end(served, request.context);
      trace?.end(served);
    });
    try {
      acceptTarget(request);
    } catch (error) {
      // The boundary to the next request may be as unreliable as the rest.
      response.setHeader('Connection', 'close');
      problems.send(error, request, response);
      return;
    }
    if (trace) trace.run(route);
    else route();
  });
}
