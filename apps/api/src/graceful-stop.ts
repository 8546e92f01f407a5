import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Time for load balancers to notice that readiness is gone, before connections are refused. */
export const NOTICE_MS = 5_000;
/** Longest wait for requests in flight. */
export const IN_FLIGHT_MS = 25_000;
/** The same of the management port, where nobody asks for anything that takes long. */
export const MANAGEMENT_IN_FLIGHT_MS = 2_000;
/** Longest wait for what comes after: workers, pools, traces. With the two above less than orchestrators are told to wait. */
const CLOSING_MS = 8_000;

/** A server's connections and unfinished answers, so that it can be left without cutting anybody off. */
export class ServedConnections {
  private readonly sockets = new Set<Socket>();
  private readonly answers = new Set<ServerResponse>();

  /** Before the server listens, for what it does not see it does not know. */
  constructor(private readonly server: Server) {
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    server.on('request', (_request, response: ServerResponse) => {
      this.answers.add(response);
      response.once('close', () => this.answers.delete(response));
    });
  }

  /** Answers under way will say that theirs is the last on its connection; later ones know by themselves. */
  announceClose(): void {
    for (const answer of this.answers) if (!answer.headersSent) answer.setHeader('Connection', 'close');
  }

  /**
   * Stops accepting and waits for the requests in flight; none is cut off before so long. Connections that fall idle are
   * closed as they do, and so are those on which nothing was ever said, as browsers open them in advance: Node counts
   * these neither as idle nor as in use. Resolves when all are gone: a client that never ends must not keep everything
   * behind it from being put in order, and a server that is closed looks at no timeout any more.
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
    // A server is closed before its last answers are: those who write of them must hear of it before the process ends.
    const cutOff = [...this.answers].map((answer) => once(answer, 'close'));
    for (const socket of this.sockets) socket.destroy();
    await Promise.all([closed, ...cutOff]);
  }
}

/**
 * Calls `stop` once, for the first of the signals, and ends the process with 0 when it is done, with 1 when it fails or
 * takes too long. An orchestrator's SIGTERM leaves five seconds for load balancers to look elsewhere; a person's Ctrl-C
 * does not wait.
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

/** Nothing that is only put in order may keep the process: rejects. */
async function tooLong(): Promise<never> {
  await delay(IN_FLIGHT_MS + CLOSING_MS);
  throw new Error('the process does not come to an end by itself');
}
