import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Time for load balancers to notice that readiness is gone, before connections are refused. */
const NOTICE_MS = 5_000;
/** Longest wait for requests in flight. */
const IN_FLIGHT_MS = 25_000;

/**
 * Remembers the connections on which nothing was ever said, as browsers open them in advance. Node counts those neither
 * as idle nor as in use, and would wait for them. The function returned closes them.
 */
export function trackSilentConnections(server: Server): () => void {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return () => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  };
}

/**
 * Stops accepting and waits for the requests in flight; nothing is cut off. Connections that fall idle are closed as
 * they do. Resolves when all are gone or after 25 s.
 */
export async function drain(servers: readonly Server[], closeSilent: readonly (() => void)[]): Promise<void> {
  const closed = Promise.all(servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))));
  const idle = setInterval(() => {
    servers.forEach((server) => server.closeIdleConnections());
    closeSilent.forEach((close) => close());
  }, 50);
  await Promise.race([closed, delay(IN_FLIGHT_MS, undefined, { ref: false })]);
  clearInterval(idle);
}

/**
 * Calls `stop` once, for the first of the signals. An orchestrator's SIGTERM leaves five seconds for load balancers to
 * look elsewhere; a person's Ctrl-C does not wait.
 */
export function onStopSignal(markStopping: () => void, stop: () => Promise<void>): void {
  let stopping = false;
  const begin = (noticeMs: number) => () => {
    if (stopping) return;
    stopping = true;
    markStopping();
    void delay(noticeMs)
      .then(stop)
      .then(
        () => process.exit(0),
        () => process.exit(1),
      );
  };
  process.on('SIGTERM', begin(NOTICE_MS));
  process.on('SIGINT', begin(0));
}
