import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { EmbeddedPostgresFault } from '../embedded-postgres-fault';
import { findPostmaster, type Postmaster } from './postmaster-file';

const WAIT_SECONDS = 60;

/**
 * Returns the server that runs from the data directory and responds, or null. Waits for a server that is starting or
 * stopping, because it can neither be used nor replaced.
 */
export async function findRunningServer(
  dataDir: string,
  urlAt: (port: number) => string,
  say: (line: string) => void,
): Promise<Postmaster | null> {
  const started = Date.now();
  for (let announced = false; ; await sleep(20)) {
    const server = findPostmaster(dataDir);
    if (server === null) return null;
    if (server.ready && (await responses(urlAt(server.port), dataDir))) return server;
    const seconds = (Date.now() - started) / 1000;
    if (seconds > 3 && !announced) {
      announced = true;
      say(`A Postgres (process ${server.pid}) runs in ${dataDir} but accepts no connections yet; waiting.`);
    }
    if (seconds > WAIT_SECONDS) {
      throw new EmbeddedPostgresFault(
        `A Postgres (process ${server.pid}) runs in ${dataDir} but accepts no connections on 127.0.0.1:${server.port}. ` +
          `Stop it (kill -INT ${server.pid}) and start again.`,
      );
    }
  }
}

async function responses(url: string, dataDir: string): Promise<boolean> {
  // Explicit, so that PGSSLMODE of the user's shell has no effect.
  const client = new Client({ connectionString: url, ssl: false, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch (error) {
    const code = (error as { code?: string }).code ?? '';
    if (code.startsWith('28')) {
      throw new EmbeddedPostgresFault(
        `The Postgres that runs in ${dataDir} does not accept the passwords kept beside its data; somebody changed them. ` +
          `Change them back, or stop it and move ${dataDir} aside to begin with an empty database.`,
        { cause: error },
      );
    }
    // "Too many connections" proves that the server responds. 57P03 means that it is starting, recovering or stopping.
    return code === '53300';
  } finally {
    await client.end().catch(() => undefined);
  }
}
