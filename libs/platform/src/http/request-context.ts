import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import type { ApplicationId, RateClass, ReadScope, WorkspaceId } from '#libs/kernel';
import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import type { JsonMediaType } from './body/json-body';
import { redacted } from '../observability/redaction';
import type { ServedRequest } from '../observability/trace';

/**
 * The sender of a request. Known once the bearer token was accepted. As the scope of a read, its data is as new as it takes
 * to show the caller its own writes.
 */
export interface Caller extends ReadScope {
  readonly applicationId: ApplicationId;
  readonly clientId: string;
  /** The token's scopes that are still granted to the application. */
  readonly scopes: readonly string[];
  /** When its token was issued and when it expires, in seconds since 1970. */
  readonly token: { readonly issuedAt: number; readonly expiresAt: number };
  /** Later reads of the caller see everything that is committed by now, as after a write. */
  readonly readNewest: () => Promise<void>;
  /**
   * Asks Postgres whether the application may still call the route, for responses that take long. A token that expired or
   * was replaced by a newer one does not matter; an operator's act that ended it does.
   */
  readonly mayGoOn: () => Promise<boolean>;
}

/** A write after its key and body were read, as its route and the audit see it. */
export interface CurrentWriteRequest {
  readonly workspaceId: WorkspaceId;
  readonly author: {
    readonly applicationId: ApplicationId;
    readonly clientId: string;
    readonly requestId: string;
    /** SHA-256 of the Idempotency-Key, hexadecimal. */
    readonly keyHash: string;
  };
  readonly mediaType: JsonMediaType;
}

/** The buckets of a client: one for each class of requests, and one for streams. */
export type Bucket = RateClass | 'export';

/** Facts about a request, collected while it is served. */
export interface RequestContext {
  readonly requestId: string;
  readonly startedAt: bigint;
  /** Path as it was sent, without the query, scheme and authority. */
  readonly instance: string;
  caller: Caller | null;
  write: CurrentWriteRequest | null;
  /** Code of the problem that was sent, for the log. */
  problemCode: string | null;
  /** Client id that a token was issued to. The token endpoint knows no other caller. */
  issuedTo: string | null;
  /** Why the client's proof was refused, for the log alone. */
  reason: string | null;
  /** Trace id, when tracing is on. */
  traceId: string | null;
  /** The bucket that the response tells of. */
  bucket: Bucket | null;
  /** Whether the response is a stream, which lasts as long as its client reads. */
  isStream: boolean;
}

declare module 'http' {
  interface IncomingMessage {
    context: RequestContext;
  }
}

/** Milliseconds since the request arrived. */
export const millisecondsSince = ({ startedAt }: RequestContext): number =>
  Number(process.hrtime.bigint() - startedAt) / 1e6;

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** The id goes into responses, logs, traces and the audit, so an id that looks like a secret is replaced. */
const isAccepted = (sent: string): boolean => REQUEST_ID.test(sent) && redacted(sent) === sent;

/** Scheme and authority of a target in the absolute form (RFC 9112, 3.2.2). They may contain credentials. */
const BEFORE_PATH = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** Splits a request target into its path and its query, which is empty or begins with "?". Drops a fragment. */
export function partsOf(target: string): { readonly path: string; readonly query: string } {
  const [local = ''] = target.replace(BEFORE_PATH, '').split('#', 1);
  const mark = local.indexOf('?');
  const [path, query] = mark === -1 ? [local, ''] : [local.slice(0, mark), local.slice(mark)];
  return { path: path || '/', query };
}

/** First step of every request: assigns the request id, which every response carries as `X-Request-Id`. */
export function openContext(request: IncomingMessage, response: ServerResponse): RequestContext {
  const sent = request.headers['x-request-id'];
  const requestId = typeof sent === 'string' && isAccepted(sent) ? sent : randomUUID();
  const context: RequestContext = {
    requestId,
    startedAt: process.hrtime.bigint(),
    instance: partsOf(request.url ?? '/').path,
    caller: null,
    write: null,
    problemCode: null,
    issuedTo: null,
    reason: null,
    traceId: null,
    bucket: null,
    isStream: false,
  };
  request.context = context;
  response.setHeader('X-Request-Id', requestId);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  // Responses are for one caller at one moment. A response that caches may keep overrides this.
  response.setHeader('Cache-Control', 'no-store');
  return context;
}

/** Last step of every request: calls `served` once, when the response is sent or the connection is lost. */
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

function routeOf(request: Request): string | null {
  const route = request.route as { readonly path?: unknown } | undefined;
  return typeof route?.path === 'string' ? route.path : null;
}

/** Writes one line for each request. No path, query, header or body, because clients put secrets into wrong places. */
export function logAccess(log: Logger, { traceId, ...served }: ServedRequest): void {
  log.info(
    traceId === null ? served : { ...served, trace_id: traceId },
    served.status === null ? 'request aborted' : 'request',
  );
}

/** Injects the caller. Only for routes that require a scope; other routes have no caller. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<Request>().context;
  if (!caller) throw new Error('A route without a bearer token asks for its caller.');
  return caller;
});

/** Injects the current write. Only for routes behind the idempotency interceptor, which are all writes under a scope. */
export const CurrentWrite = createParamDecorator((_: unknown, context: ExecutionContext): CurrentWriteRequest => {
  const { write } = context.switchToHttp().getRequest<Request>().context;
  if (!write) throw new Error('A route that is no write asks for one.');
  return write;
});
