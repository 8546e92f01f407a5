import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { hasTooManyHeaders } from './accept-target';
import { closeAfter } from './closing';
import { stopParsing } from './stop-parsing';

/** Requests that a client may send before it has the first response. */
const MAX_AHEAD = 16;

interface Waiting {
  readonly response: ServerResponse;
  readonly serve: () => void;
}

interface Connection {
  current: ServerResponse;
  readonly ahead: Waiting[];
}

/**
 * Serves the requests of one connection one after another. Each starts once the previous response was handed to the
 * operating system. So a client that sends many requests and reads nothing is owed one response at a time. Without this,
 * 200 hostile connections make an instance grow by up to 2.3 GB.
 */
export class PipelinedRequests {
  private readonly connections = new WeakMap<Socket, Connection>();

  /** Calls `serve` when the request's turn comes. Closes a connection with too many pipelined requests. */
  enter(response: ServerResponse, serve: () => void): void {
    const { socket } = response.req;
    // The same read may hold more such requests, and each costs as much as ten ordinary ones.
    if (hasTooManyHeaders(response.req)) {
      stopParsing(socket);
      closeAfter(response);
    }
    const connection = this.connections.get(socket);
    if (connection?.ahead.length === MAX_AHEAD) {
      stopParsing(socket);
      socket.destroy();
    }
    if (!socket.writable) {
      // Listeners of this request are added later.
      setImmediate(() => close(response));
    } else if (connection) connection.ahead.push({ response, serve });
    else {
      const first = { current: response, ahead: [] };
      this.connections.set(socket, first);
      this.begin(socket, first, { response, serve });
    }
  }

  /** Returns the response that the connection waits for. */
  currentOf(socket: Socket): ServerResponse | undefined {
    return this.connections.get(socket)?.current;
  }

  private begin(socket: Socket, connection: Connection, { response, serve }: Waiting): void {
    connection.current = response;
    // One request for each turn of the event loop. Node keeps parsing while responses go out, and other connections
    // need the loop.
    response.once('close', () => setImmediate(() => this.advance(socket, connection)));
    serve();
  }

  private advance(socket: Socket, connection: Connection): void {
    const next = socket.writable ? connection.ahead.shift() : undefined;
    if (next) {
      this.begin(socket, connection, next);
      return;
    }
    this.connections.delete(socket);
    for (const { response } of connection.ahead) close(response);
  }
}

/** Before version 24 Node closes only the current response when a connection is lost. */
function close(response: ServerResponse): void {
  if (!response.closed) response.emit('close');
}
