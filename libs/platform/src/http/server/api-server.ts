import { STATUS_CODES, type Server, createServer } from 'node:http';
import type { Socket } from 'node:net';
import { parse } from 'node:querystring';
import { randomUUID } from 'node:crypto';
import { StreamableFile } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { DomainError } from '#libs/kernel';
import express, { type Express, type Request, type Response } from 'express';
import type { ServedRequest } from '../../observability/served-request';
import { toProblem, PROBLEM_MEDIA_TYPE } from '../../problems/problem';
import { MAX_HEADERS, hasTooManyHeaders } from './accept-target';
import { expressMessages } from './express-messages';
import { JSON_ANSWER } from '../body/json-body';
import { closeLingering } from './lingering-close';
import { PipelinedRequests } from './pipelined-requests';
import { stopParsing } from './stop-parsing';

/** Memory and file descriptors of one instance have a bound whoever opens connections (docs/production.md). */
const MAX_CONNECTIONS = 5_000;
/** A connection on which no byte goes either way for this long during a request or its response is closed. */
const SILENCE_MS = 30_000;

/**
 * Express on a Node server whose own refusals (a malformed request, too large a header block) are problems like every
 * other error, and which matches paths to the letter.
 */
export class ApiServerAdapter extends ExpressAdapter {
  private tell: (refused: ServedRequest) => void = () => undefined;
  private first: (request: Request, response: Response, route: () => void) => void = (_, __, route) => route();
  private readonly pipelined = new PipelinedRequests();

  constructor(private readonly baseUrl: string) {
    super(strictExpress());
  }

  /** What Node refuses never becomes a request; `listener` hears of it. */
  whenRefused(listener: (refused: ServedRequest) => void): void {
    this.tell = listener;
  }

  /** What every request goes through, also one that no route answers. Before Express: a layer of its router costs more. */
  beforeRouting(steps: (request: Request, response: Response, route: () => void) => void): void {
    this.first = steps;
  }

  override initHttpServer(): void {
    const route = this.getInstance<Express>();
    const server = createServer({
      ...expressMessages(route),
      // Node would answer a request without Host by an empty 400; `acceptTarget` answers it by a problem.
      requireHostHeader: false,
      keepAliveTimeout: 70_000,
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      connectionsCheckingInterval: 5_000,
    });
    // Node leaves out the headers after these; `acceptTarget` refuses a request that has so many.
    server.maxHeadersCount = MAX_HEADERS + 1;
    server.maxConnections = MAX_CONNECTIONS;
    server.timeout = SILENCE_MS;
    server.on('request', (request: Request, response: Response) => {
      // The same read may hold more of them, and each costs as much as ten ordinary requests.
      if (hasTooManyHeaders(request)) stopParsing(request.socket);
      this.pipelined.enter(response, () => this.first(request, response, () => void route(request, response)));
    });
    // Who reads the body says that it is wanted: a refused request gets no 100 (RFC 9110, 10.1.1).
    server.on('checkContinue', (request, response) => server.emit('request', request, response));
    // An expectation other than 100-continue is ignored rather than refused by an empty 417 (RFC 9110, 10.1.1).
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    server.on('clientError', (error, socket) => this.refuseMalformed(error, socket as Socket));
    // Node would close the connection of a CONNECT without a word: there is nothing here to tunnel to.
    server.on('connect', (_request, socket) => this.refuseTunnel(socket as Socket));
    this.httpServer = server as Server;
  }

  /** What a route gives is sent as it is, without what Express would find out about each answer: type, tag, freshness. */
  override reply(response: Response, body: unknown, status?: number): unknown {
    if (status !== undefined) response.statusCode = status;
    if (body instanceof Uint8Array) return sendBytes(response, body);
    const isTyped = response.hasHeader('Content-Type');
    const isText = typeof body === 'string' && isTyped;
    if (!isText && !isPlain(body)) return super.reply(response, body) as unknown;
    const text = isText ? body : JSON.stringify(body);
    if (!isTyped) response.setHeader('Content-Type', JSON_ANSWER);
    return sendBytes(response, text);
  }

  /** Answers what Node's parser refused: there is no request object, only a socket. */
  private refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
    if (error.code === 'ECONNRESET') socket.destroy();
    else if (error.code === 'HPE_HEADER_OVERFLOW')
      this.refuse(new DomainError('headers_too_large', 'The header block is too large.'), socket);
    else {
      const detail = 'The request is not well-formed HTTP or did not arrive in time.';
      this.refuse(new DomainError('validation_failed', detail), socket);
    }
  }

  private refuseTunnel(socket: Socket): void {
    // Node leaves the connection of a CONNECT to us: an error that nobody hears would end the process.
    socket.on('error', () => socket.destroy());
    // Nobody learns that the client has hung up where something is left unread.
    socket.resume();
    this.refuse(new DomainError('not_found', 'There is nothing at this path.'), socket);
  }

  /** Nothing may come before the response to an earlier request, so a connection that waits for one is only closed. */
  private refuse(refusal: DomainError, socket: Socket): void {
    const current = this.pipelined.currentOf(socket);
    // A request that has not come whole is what is refused here.
    if (socket.writable && !(current && (current.req.complete || current.headersSent))) this.answerOn(socket, refusal);
    else socket.destroy();
  }

  private answerOn(socket: Socket, refusal: DomainError): void {
    const requestId = randomUUID();
    const problem = toProblem(refusal, { baseUrl: this.baseUrl, instance: '/', requestId });
    const body = JSON.stringify(problem);
    socket.write(
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n` +
        `Content-Type: ${PROBLEM_MEDIA_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
        `X-Request-Id: ${requestId}\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n` +
        `Connection: close\r\n\r\n${body}`,
    );
    closeLingering(socket);
    const { status, code } = problem;
    const nobody = { route: null, workspaceId: null, clientId: null, traceId: null };
    this.tell({ requestId, method: null, status, code, durationMs: 0, bytes: Buffer.byteLength(body), ...nobody });
  }
}

function sendBytes(response: Response, body: string | Uint8Array): Response {
  // Node leaves it out of the response to a HEAD alone.
  if (response.req.method === 'HEAD') response.setHeader('Content-Length', Buffer.byteLength(body));
  return response.end(body);
}

const isPlain = (body: unknown): body is object =>
  typeof body === 'object' && body !== null && !(body instanceof StreamableFile) && !(body instanceof Error);

/** The settings of its router must stand before anything is registered: Nest's adapter registers at once. */
function strictExpress(): Express {
  const instance = express();
  instance.disable('x-powered-by');
  instance.disable('etag');
  instance.set('strict routing', true);
  instance.set('case sensitive routing', true);
  // All of it: Node would stop at the thousandth parameter, and what follows would count for nothing.
  instance.set('query parser', (query: string) => parse(query, '&', '=', { maxKeys: 0 }));
  // Express would answer any conditional GET by itself; nothing here is meant to be kept, and success is always 200.
  Object.defineProperty(instance.request, 'fresh', { value: false });
  return instance;
}
