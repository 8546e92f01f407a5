import { STATUS_CODES, type Server, type ServerResponse, createServer } from 'node:http';
import type { Socket } from 'node:net';
import { parse } from 'node:querystring';
import { randomUUID } from 'node:crypto';
import { StreamableFile } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { DomainError } from '#libs/kernel';
import express, { type Express, type Request, type Response } from 'express';
import type { ServedRequest } from '../observability/served-request';
import { toProblem, PROBLEM_MEDIA_TYPE } from '../problems/problem';
import { expressMessages } from './express-messages';
import { JSON_ANSWER } from './json-body';

/** A client has so long to close its side of a connection on which it was refused. */
const HANG_UP_MS = 2_000;

/**
 * Express on a Node server whose own refusals (a malformed request, too large a header block) are problems like every
 * other error, and which matches paths to the letter.
 */
export class ApiServerAdapter extends ExpressAdapter {
  private tell: (refused: ServedRequest) => void = () => undefined;
  private first: (request: Request, response: Response, route: () => void) => void = (_, __, route) => route();
  /** Answers that a connection still waits for. */
  private readonly unanswered = new WeakMap<Socket, Set<ServerResponse>>();

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
    // Their size has a limit, their number none: Node would leave out those after the thousandth, safeguards or not.
    server.maxHeadersCount = 0;
    server.on('request', (request, response) => this.expectAnswer(request.socket, response));
    server.on('request', (request: Request, response: Response) =>
      this.first(request, response, () => void route(request, response)),
    );
    // An expectation other than 100-continue is ignored rather than refused by an empty 417 (RFC 9110, 10.1.1).
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    server.on('clientError', (error, socket) => this.refuse(error, socket as Socket));
    // Node would close the connection of a CONNECT without a word: there is nothing here to tunnel to.
    server.on('connect', (_request, socket) => this.refuseTunnel(socket as Socket));
    this.httpServer = server as Server;
  }

  /** What a route gives is sent as it is, without what Express would find out about each answer: type, tag, freshness. */
  override reply(response: Response, body: unknown, status?: number): unknown {
    if (status !== undefined) response.statusCode = status;
    const isTyped = response.hasHeader('Content-Type');
    const isText = typeof body === 'string' && isTyped;
    if (!isText && !isPlain(body)) return super.reply(response, body) as unknown;
    const text = isText ? body : JSON.stringify(body);
    if (!isTyped) response.setHeader('Content-Type', JSON_ANSWER);
    // Node leaves it out of the answer to a HEAD alone.
    if (response.req.method === 'HEAD') response.setHeader('Content-Length', Buffer.byteLength(text));
    return response.end(text);
  }

  /** Answers what Node's parser refused: there is no request object, only a socket. */
  private refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const refusal =
      error.code === 'HPE_HEADER_OVERFLOW'
        ? new DomainError('headers_too_large', 'The header block is too large.')
        : new DomainError('validation_failed', 'The request is not well-formed HTTP or did not arrive in time.');
    this.afterAnswers(socket, () => this.answerOn(socket, refusal));
  }

  private refuseTunnel(socket: Socket): void {
    // From here on Node leaves the connection to us: an error that nobody hears would end the process, answers before
    // this one still wait for room, and where something is left unread nobody learns that the client has hung up.
    socket.on('error', () => socket.destroy());
    socket.on('drain', () => this.answersOn(socket)[0]?.emit('drain'));
    socket.resume();
    const refusal = new DomainError('not_found', 'There is nothing at this path.');
    this.afterAnswers(socket, () => this.answerOn(socket, refusal));
  }

  private expectAnswer(socket: Socket, response: ServerResponse): void {
    let waiting = this.unanswered.get(socket);
    if (!waiting) {
      this.unanswered.set(socket, (waiting = new Set()));
      socket.once('close', () => setImmediate(() => this.closeAnswersOn(socket)));
    }
    waiting.add(response);
    response.once('close', () => waiting.delete(response));
  }

  private answersOn(socket: Socket): ServerResponse[] {
    return [...(this.unanswered.get(socket) ?? [])];
  }

  /** Before version 24 Node closes only the response whose turn it was. Those in line behind it end here. */
  private closeAnswersOn(socket: Socket): void {
    for (const response of this.answersOn(socket)) if (!response.socket) response.emit('close');
  }

  /** Requests that came before on the same connection are answered before (RFC 9112, 9.3.2). */
  private afterAnswers(socket: Socket, work: () => void): void {
    // One that has not come whole is what is refused here, and will have no other answer.
    const first = this.answersOn(socket).find(({ req }) => req.complete);
    if (first) first.once('close', () => this.afterAnswers(socket, work));
    else if (socket.writable) work();
  }

  private answerOn(socket: Socket, refusal: DomainError): void {
    const requestId = randomUUID();
    const problem = toProblem(refusal, { baseUrl: this.baseUrl, instance: '/', requestId });
    const body = JSON.stringify(problem);
    socket.end(
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n` +
        `Content-Type: ${PROBLEM_MEDIA_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
        `X-Request-Id: ${requestId}\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n` +
        `Connection: close\r\n\r\n${body}`,
    );
    // Whoever does not hang up in turn would keep the connection, and a file descriptor of ours, for good.
    const late = setTimeout(() => socket.destroy(), HANG_UP_MS).unref();
    socket.once('close', () => clearTimeout(late));
    const { status, code } = problem;
    const nobody = { route: null, workspaceId: null, clientId: null, traceId: null };
    this.tell({ requestId, method: null, status, code, durationMs: 0, bytes: Buffer.byteLength(body), ...nobody });
  }
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
