import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A free port on 127.0.0.1, for a server that is told its port and may come back under it. It lies below the ports that
 * systems give to outgoing connections (from 32768 on Linux), one of which could take it between two starts.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(12_000, 22_000);
    if (await isFree(port)) return port;
  }
}

/** A port that a node of a cluster can have: the one ten thousand above is for what the nodes tell each other. */
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
