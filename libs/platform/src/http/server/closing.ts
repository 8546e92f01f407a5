import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { MAX_HEADERS, takeAbsoluteForm } from './accept-target';
import { stopParsing } from './stop-parsing';

/** Time for the client to read the last response. */
const LINGER_MS = 1_000;

/**
 * Closes our half of a connection while the client still sends, and the other half a moment later. Closing both at once
 * resets the connection, which can destroy the last response (RFC 9112, 9.6).
 */
export function closeLingering(socket: Socket): void {
  socket.end();
  const late = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(late));
}

/** Lets a response be the last one of its connection, of which the client may still send the body. */
export function closeAfter(response: ServerResponse): void {
  const { socket } = response.req;
  response.setHeader('Connection', 'close');
  // Node calls this after the response. The original would reset the connection.
  socket.destroySoon = () => closeLingering(socket);
}

/** Closes after a response that is sent before the whole body arrived. Node would read the rest for as long as a request may take. */
export function closeUnread(request: IncomingMessage, response: ServerResponse): void {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  if (encoding === undefined && Number(length) === 0) return;
  const writeHead = response.writeHead.bind(response) as (...given: unknown[]) => ServerResponse;
  response.writeHead = (...given: unknown[]) => {
    if (!request.complete) closeAfter(response);
    return writeHead(...given);
  };
}

/** Tells whether a body comes in chunks. Each costs, however short it is, so none is looked at, and the response is the last one. */
export function leavesChunks({ headers, socket }: IncomingMessage, response: ServerResponse): boolean {
  if (headers['transfer-encoding'] === undefined) return false;
  stopParsing(socket);
  response.once('finish', () => socket.destroy());
  return true;
}

/** An idle connection stays open for longer than proxies keep theirs, so that none sends a request on a closed one. */
const KEEP_ALIVE_MS = 70_000;
/** Bounds the memory and file descriptors of one instance (docs/production.md). */
const MAX_CONNECTIONS = 5_000;
/** Node reports silence once per period. One period is also the precision of the limit. */
const PERIOD_MS = 2_000;
const MAX_PERIODS = 15;

/** The error of a connection that was closed for its silence. */
export class ConnectionSilent extends Error {
  /** As if the client had left: nobody is told. */
  readonly code = 'ECONNRESET';
}

interface Silence {
  readonly since: number;
  readonly reportedAt: number;
  readonly bytes: number;
}

/**
 * Bounds the number of connections and of headers, and how long they may be idle. Closes one on which no byte moves for 30 s during a
 * request or its response. With that long a period, Node would report an unread response after up to 60 s: during the
 * first one the operating system took a part of it. Only Node sees such parts, so a report also tells that there was none.
 */
export function boundConnections(server: Server): void {
  const silences = new WeakMap<Socket, Silence>();
  server.prependListener('request', takeAbsoluteForm);
  // Ignores other expectations. Node would refuse them with an empty 417 (RFC 9110, 10.1.1), however many come at once.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.maxConnections = MAX_CONNECTIONS;
  // Node drops headers beyond this limit. `hasTooManyHeaders` tells of a request that reaches it.
  server.maxHeadersCount = MAX_HEADERS + 1;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.timeout = PERIOD_MS;
  server.on('timeout', (socket: Socket) => {
    const period = server.timeout;
    const now = performance.now();
    const bytes = socket.bytesRead + socket.bytesWritten;
    const last = silences.get(socket);
    // After bytes moved, the counts differ or the report comes a period later.
    const goesOn = last !== undefined && last.bytes === bytes && now - last.reportedAt < 1.9 * period;
    const since = goesOn ? last.since : now - period;
    // Between requests Node has set the time of an idle connection.
    const isIdle = socket.timeout !== period;
    if (isIdle || now - since >= MAX_PERIODS * period) socket.destroy(new ConnectionSilent());
    else {
      silences.set(socket, { since, reportedAt: now, bytes });
      socket.setTimeout(period);
    }
  });
}
