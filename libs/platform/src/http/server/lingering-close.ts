import type { Socket } from 'node:net';

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
