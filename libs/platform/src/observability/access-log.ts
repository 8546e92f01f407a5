import type { Request, Response } from 'express';
import type { Logger } from 'pino';

/** One line a request, written when its answer is out or its connection lost. No query, no header, no body. */
export function logAccess(log: Logger, request: Request, response: Response): void {
  response.once('close', () => {
    const { context } = request;
    const route = (request.route as { path?: string } | undefined)?.path ?? null;
    log.info(
      {
        requestId: context.requestId,
        method: request.method,
        route,
        status: response.writableFinished ? response.statusCode : null,
        code: context.problemCode,
        workspaceId: context.caller?.workspaceId ?? null,
        clientId: context.caller?.clientId ?? null,
        durationMs: Number(process.hrtime.bigint() - context.startedAt) / 1e6,
        bytes: Number(response.getHeader('Content-Length') ?? 0),
      },
      response.writableFinished ? 'request' : 'request aborted',
    );
  });
}
