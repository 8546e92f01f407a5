import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApplicationId, Freshness, WorkspaceId } from '#libs/kernel';
import type { JsonBody } from './body/json-body';
import { redacted } from '../observability/redaction';

/** Who sends a request: known once the bearer token was accepted. */
export interface Caller {
  readonly workspaceId: WorkspaceId;
  readonly applicationId: ApplicationId;
  readonly clientId: string;
  /** The token's scopes as far as they are still granted to the application. */
  readonly scopes: readonly string[];
  /** What it must see at least: its own writes. */
  readonly freshness: Freshness;
}

/** A write, once its key and body were read: what its route and the audit of what it changes need. */
export interface WriteRequest {
  /** SHA-256 of the Idempotency-Key, hexadecimal. */
  readonly keyHash: string;
  readonly body: JsonBody;
}

/** What is known of a request while it is being answered. */
export interface RequestContext {
  readonly requestId: string;
  readonly startedAt: bigint;
  /** Path as it was sent, without the query, nor what stands before it in the absolute form of a target. */
  readonly instance: string;
  caller: Caller | null;
  write: WriteRequest | null;
  /** Code of the problem that was answered, for the log. */
  problemCode: string | null;
  /** Client id that a token was issued to: of whoever asks for a token nothing else is known. */
  issuedTo: string | null;
  /** Trace that the request is part of, where traces are kept. */
  traceId: string | null;
}

declare module 'http' {
  interface IncomingMessage {
    context: RequestContext;
  }
}

/** How long ago the request came, in milliseconds. */
export const millisecondsSince = ({ startedAt }: RequestContext): number =>
  Number(process.hrtime.bigint() - startedAt) / 1e6;

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** It goes into answers, logs, traces and the audit: what looks like a secret in the wrong place is not taken over. */
const isAccepted = (sent: string): boolean => REQUEST_ID.test(sent) && redacted(sent) === sent;

/** Scheme and authority of a target in the absolute form (RFC 9112, 3.2.2): credentials may stand there. */
const BEFORE_PATH = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

function pathOf(target: string): string {
  const local = target.replace(BEFORE_PATH, '');
  const query = local.indexOf('?');
  return (query === -1 ? local : local.slice(0, query)) || '/';
}

/** First step of every request: gives it its id, which every answer carries as `X-Request-Id`. */
export function openContext(request: IncomingMessage, response: ServerResponse): RequestContext {
  const sent = request.headers['x-request-id'];
  const requestId = typeof sent === 'string' && isAccepted(sent) ? sent : randomUUID();
  const context: RequestContext = {
    requestId,
    startedAt: process.hrtime.bigint(),
    instance: pathOf(request.url ?? '/'),
    caller: null,
    write: null,
    problemCode: null,
    issuedTo: null,
    traceId: null,
  };
  request.context = context;
  response.setHeader('X-Request-Id', requestId);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  // Answers are of one moment and one caller; what may be kept says so itself.
  response.setHeader('Cache-Control', 'no-store');
  return context;
}
