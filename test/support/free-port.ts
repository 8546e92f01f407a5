import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Finds a free port on 127.0.0.1 for a server that may restart on it. The port lies below the range for outgoing
 * connections (from 32768 on Linux), which could otherwise take it between two starts.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(12_000, 22_000);
    if (await isFree(port)) return port;
  }
}

/** Finds a port for a cluster node, whose port plus ten thousand must be free as well. */
export async function freeClusterPort(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (await isFree(port + 10_000)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
