import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { stopParsing } from './stop-parsing';

/** Requests that a client may send ahead of the response that it waits for. */
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
 * Serves the requests of one connection one after another, each once the response to the one before was handed to the
 * operating system. So a client that sends many requests and reads nothing is owed one response at a time.
 */
export class PipelinedRequests {
  private readonly connections = new WeakMap<Socket, Connection>();

  /** Calls `serve` when its turn has come. Closes a connection with too many requests ahead. */
  enter(response: ServerResponse, serve: () => void): void {
    const { socket } = response.req;
    const connection = this.connections.get(socket);
    if (connection?.ahead.length === MAX_AHEAD) {
      stopParsing(socket);
      socket.destroy();
    }
    if (!socket.writable) {
      // Listeners to this request come after this one.
      setImmediate(() => close(response));
    } else if (connection) connection.ahead.push({ response, serve });
    else {
      const first = { current: response, ahead: [] };
      this.connections.set(socket, first);
      this.begin(socket, first, { response, serve });
    }
  }

  /** The response that the connection waits for. */
  currentOf(socket: Socket): ServerResponse | undefined {
    return this.connections.get(socket)?.current;
  }

  private begin(socket: Socket, connection: Connection, { response, serve }: Waiting): void {
    connection.current = response;
    // One request a turn of the event loop: Node parses on while responses go out, and others wait for the loop.
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

/** Before version 24 Node closes only the response whose turn it was when a connection is lost. */
function close(response: ServerResponse): void {
  if (!response.closed) response.emit('close');
}
