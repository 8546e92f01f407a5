import { STATUS_CODES, type Server, createServer } from 'node:http';
import type { Socket } from 'node:net';
import { parse } from 'node:querystring';
import { randomUUID } from 'node:crypto';
import { StreamableFile } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { DomainError, ValidationFailed, shown } from '#libs/kernel';
import express, { type Express, type Request, type Response } from 'express';
import type { ServedRequest } from '../../observability/trace';
import { toProblem, PROBLEM_MEDIA_TYPE } from '../../problems/problem';
import { decodes } from './accept-target';
import { expressMessages } from './express-messages';
import { JSON_RESPONSE } from '../body/json-body';
import { compressed, compressedElsewhere, sendStream } from './compression';
import { boundConnections, closeLingering } from './closing';
import { LargePages } from './large-pages';
import { PipelinedRequests } from './pipelined-requests';
import { UnsentBytes } from './unsent-bytes';

/** Memory of a stream whose client reads slower than it is made. */
const STREAM_BYTES = 2_000_000;
/** A longer text is sent as bytes: while a client reads, Node would hold the text beside its bytes. */
const LONG_TEXT = 100_000;

/**
 * Express on a Node server with two changes. Node's own refusals (a malformed request, a header block that is too
 * large) become problems like every other error. Paths match exactly.
 */
export class ApiServerAdapter extends ExpressAdapter {
  private tell: (refused: ServedRequest) => void = () => undefined;
  private first: (request: Request, response: Response, route: () => void) => void = (_, __, route) => route();
  private readonly pipelined = new PipelinedRequests();
  private readonly unsent = new UnsentBytes();
  private readonly largePages = new LargePages();

  constructor(private readonly baseUrl: string) {
    super(strictExpress());
  }

  /** Calls `listener` for refusals of Node's parser, which never become requests. */
  whenRefused(listener: (refused: ServedRequest) => void): void {
    this.tell = listener;
  }

  /**
   * Runs these steps for every request, even without a matching route. They run before Express, because a layer of its
   * router costs more.
   */
  beforeRouting(steps: (request: Request, response: Response, route: () => void) => void): void {
    this.first = steps;
  }

  override initHttpServer(): void {
    const route = this.getInstance<Express>();
    const server = createServer({
      ...expressMessages(route),
      // Node would send an empty 400 for a request without Host. `acceptTarget` sends a problem.
      requireHostHeader: false,
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      connectionsCheckingInterval: 5_000,
    });
    boundConnections(server as Server);
    server.on('request', (request: Request, response: Response) =>
      this.pipelined.enter(response, () => this.first(request, response, () => void route(request, response))),
    );
    // The code that reads the body sends the 100, so a refused request gets none (RFC 9110, 10.1.1).
    server.on('checkContinue', (request, response) => server.emit('request', request, response));
    server.on('clientError', (error, socket) => this.refuseMalformed(error, socket as Socket));
    // Node would close the connection of a CONNECT without a response. This server tunnels nothing.
    server.on('connect', (_request, socket) => this.refuseTunnel(socket as Socket));
    this.httpServer = server as Server;
  }

  /** Sends the route's result as it is. Express would compute type, tag and freshness for each response. */
  override reply(response: Response, body: unknown, status?: number): unknown {
    if (status !== undefined) response.statusCode = status;
    if (body instanceof Uint8Array) return sendBytes(response, body);
    if (body instanceof StreamableFile) return sendStream(response, body);
    const isTyped = response.hasHeader('Content-Type');
    if (typeof body === 'string' && isTyped) return this.sendText(response, body);
    if (!isPlain(body)) return super.reply(response, body) as unknown;
    // Making a large page that nobody waits for would hold up the others.
    if (response.closed) return response;
    if (!isTyped) response.setHeader('Content-Type', JSON_RESPONSE);
    // A HEAD may lack what only the text could tell (RFC 9110, 9.3.2): its length and coding.
    if (response.req.method === 'HEAD') return response.end();
    return this.largePages.make(
      body,
      (text) => this.sendText(response, text),
      async (bytes) => this.sendWhole(response, await compressedElsewhere(response, bytes)),
    );
  }

  /** Counts the memory of a stream until its response is closed. @throws `service_unavailable` */
  holdStream(response: Response): void {
    this.unsent.hold(response, STREAM_BYTES);
  }

  /** Counts the response of an update, before COMMIT. @throws `service_unavailable` */
  holdUpdate(response: Response, body: string): void {
    this.unsent.hold(response, Buffer.byteLength(body));
  }

  private sendText(response: Response, text: string): Response {
    return this.sendWhole(response, compressed(response, text.length < LONG_TEXT ? text : Buffer.from(text)));
  }

  private sendWhole(response: Response, body: string | Uint8Array): Response {
    // The client may have left while a large page was made.
    if (response.closed) return response;
    this.unsent.holdWhole(response, Buffer.byteLength(body));
    return sendBytes(response, body);
  }

  /** Responds to requests that Node's parser refused. There is no request object, only a socket. */
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
    // Node hands over the connection of a CONNECT. An unhandled error would end the process.
    socket.on('error', () => socket.destroy());
    // Unread input would hide that the client has disconnected.
    socket.resume();
    this.refuse(new DomainError('not_found', 'There is nothing at this path.'), socket);
  }

  /** No response may overtake one to an earlier request, so a connection that still waits for one is just closed. */
  private refuse(refusal: DomainError, socket: Socket): void {
    const current = this.pipelined.currentOf(socket);
    // The refused request is the one that has not arrived completely.
    if (socket.writable && !(current && (current.req.complete || current.headersSent))) this.sendOn(socket, refusal);
    else socket.destroy();
  }

  private sendOn(socket: Socket, refusal: DomainError): void {
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
  // Node omits the length from the response to a HEAD only.
  if (response.req.method === 'HEAD') response.setHeader('Content-Length', Buffer.byteLength(body));
  return response.end(body);
}

const isPlain = (body: unknown): body is object =>
  typeof body === 'object' && body !== null && !(body instanceof Error);

/** Paths match exactly. Such settings must be set before the first registration, and Nest's adapter registers at once. */
export function strictExpress(): Express {
  const instance = express();
  instance.disable('x-powered-by');
  instance.disable('etag');
  instance.set('strict routing', true);
  instance.set('case sensitive routing', true);
  instance.set('query parser', (query: string | null) => parseQuery(query ?? ''));
  // Express would handle conditional GETs by itself. Here nothing is cached and success is always 200.
  Object.defineProperty(instance.request, 'fresh', { value: false });
  return instance;
}

/** @throws `validation_failed` naming a parameter that is not percent-encoded UTF-8 */
function parseQuery(query: string): NodeJS.Dict<string | string[]> {
  const malformed = decodes(query) ? undefined : query.split('&').find((pair) => !decodes(pair));
  if (malformed === undefined) {
    // Node would ignore parameters after the thousandth.
    return parse(query, '&', '=', { maxKeys: 0 });
  }
  const [parameter = ''] = Object.keys(parse(malformed));
  const detail = `${shown(parameter)} must be percent-encoded UTF-8.`;
  throw new ValidationFailed([{ parameter, code: 'format', detail }]);
}
