import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Time for load balancers to notice that readiness is gone, before connections are refused. */
export const NOTICE_MS = 5_000;
/** Maximum wait for requests in flight. */
export const IN_FLIGHT_MS = 25_000;
/**
 * Maximum time for the rest: workers, pools, traces. Together with the two above, less than the grace period of
 * orchestrators.
 */
const CLOSING_MS = 8_000;

/** Tracks a server's connections and unfinished responses, so that it can stop without cutting any off. */
export class ServedConnections {
  private readonly sockets = new Set<Socket>();
  private readonly responses = new Set<ServerResponse>();

  /** Create it before the server listens: it misses earlier connections. */
  constructor(private readonly server: Server) {
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    server.on('request', (_request, response: ServerResponse) => {
      this.responses.add(response);
      response.once('close', () => this.responses.delete(response));
    });
  }

  /** Marks unfinished responses as the last on their connection. Later responses are marked anyway. */
  announceClose(): void {
    for (const response of this.responses) if (!response.headersSent) response.setHeader('Connection', 'close');
  }

  /**
   * Stops accepting connections and waits for requests in flight, for `longestMs` at most. Closes connections as they
   * become idle, and those without any request, which browsers open in advance and Node ignores. Then closes the rest:
   * a slow client must not block the shutdown, and a closed server checks no timeouts.
   */
  async drain(longestMs = IN_FLIGHT_MS): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    const over = new AbortController();
    const idle = setInterval(() => {
      this.server.closeIdleConnections();
      for (const socket of this.sockets) if (socket.bytesRead === 0) socket.destroy();
    }, 50);
    const longest = delay(longestMs, undefined, { signal: over.signal }).catch(() => undefined);
    await Promise.race([closed, longest]);
    over.abort();
    clearInterval(idle);
    // Waits for responses to close, because their log lines must be written before the process ends.
    const cutOff = [...this.responses].map((response) => once(response, 'close'));
    for (const socket of this.sockets) socket.destroy();
    await Promise.all([closed, ...cutOff]);
  }
}

/**
 * Calls `stop` at the first signal. Ends the process with 0 on success, with 1 after a failure or a timeout. After
 * SIGTERM, load balancers get five seconds to notice; Ctrl-C does not wait.
 */
export function onStopSignal(markStopping: () => void, stop: () => Promise<void>): void {
  let stopping = false;
  const begin = (noticeMs: number) => () => {
    if (stopping) return;
    stopping = true;
    markStopping();
    void delay(noticeMs)
      .then(() => Promise.race([stop(), tooLong()]))
      .then(
        () => process.exit(0),
        () => process.exit(1),
      );
  };
  process.on('SIGTERM', begin(NOTICE_MS));
  process.on('SIGINT', begin(0));
}

/** Rejects when closing takes too long, so that nothing keeps the process alive. */
async function tooLong(): Promise<never> {
  await delay(IN_FLIGHT_MS + CLOSING_MS);
  throw new Error('the process does not come to an end by itself');
}
