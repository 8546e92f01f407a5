import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import type { ServedRequest } from '../../observability/trace';
import { millisecondsSince } from '../request-context';

/** Calls `served` once, when the response is sent or the connection is lost. */
export function whenServed(request: Request, response: Response, served: (request: ServedRequest) => void): void {
  response.once('close', () => {
    const { context } = request;
    served({
      requestId: context.requestId,
      method: request.method,
      route: routeOf(request),
      status: response.writableFinished ? response.statusCode : null,
      code: context.problemCode,
      workspaceId: context.caller?.workspaceId ?? null,
      clientId: context.caller?.clientId ?? context.issuedTo,
      durationMs: millisecondsSince(context),
      bytes: response.bodyBytes,
      traceId: context.traceId,
      ...(context.reason === null ? {} : { reason: context.reason }),
    });
  });
}

/** Writes one line for each request. No path, query, header or body, because clients put secrets into wrong places. */
export function logAccess(log: Logger, { traceId, ...served }: ServedRequest): void {
  log.info(
    traceId === null ? served : { ...served, trace_id: traceId },
    served.status === null ? 'request aborted' : 'request',
  );
}

function routeOf(request: Request): string | null {
  const route = request.route as { readonly path?: unknown } | undefined;
  return typeof route?.path === 'string' ? route.path : null;
}
