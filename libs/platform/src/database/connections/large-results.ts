import type { Socket } from 'node:net';
import type { PoolClient } from 'pg';

/** A result is large from this size on. Reads of streams take half of it, and ordinary pages a tenth. */
const LARGE_BYTES = 1_000_000;

/** Connections of this process with large results, in line. Only the first one is read. */
const line = new Set<Socket>();

/**
 * Lets large results arrive one after the other: meanwhile each takes several times its size. A connection that waits is not
 * read, so TCP holds back the rest of its result. Returns the function that ends the batch, which must be called however the
 * batch ends. Units of work have turns of their own, for which they wait before they read (`UnitOfWork.run`).
 */
export function receiveInTurn(client: PoolClient): () => void {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
  let bytes = 0;
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes < LARGE_BYTES || line.has(stream)) return;
    line.add(stream);
    if (line.size > 1) stream.pause();
  };
  stream.on('data', count);
  return () => {
    stream.off('data', count);
    if (!line.delete(stream)) return;
    stream.resume();
    const [first] = line;
    first?.resume();
  };
}
