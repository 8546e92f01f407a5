import type { Socket } from 'node:net';

/** Time for a client to read the last response. */
const LINGER_MS = 1_000;

/**
 * Closes our half of a connection on which a client still sends, and the other half a moment later. To close both at
 * once resets the connection, and a reset can take the last response from the client (RFC 9112, 9.6).
 */
export function closeLingering(socket: Socket): void {
  socket.end();
  const late = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(late));
}
