import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClusterLocation } from '../../libs/platform/src/embedded-postgres/cluster-location';
import { clusterUrls, readPasswords } from '../../libs/platform/src/embedded-postgres/cluster-roles';
import { setUpCluster } from '../../libs/platform/src/embedded-postgres/cluster-setup';
import { findBinaries } from '../../libs/platform/src/embedded-postgres/postgres-binaries';
import { startServer, stopServer } from '../../libs/platform/src/embedded-postgres/postgres-server';
import {
  canReach,
  findServiceAccount,
  isRoot,
  type ServiceAccount,
} from '../../libs/platform/src/embedded-postgres/service-account';
import { reachableBinaries } from '../../libs/platform/src/embedded-postgres/substitute-directory';

export interface TemporaryPostgres {
  readonly superuserUrl: string;
  /** The owner's connection; the owner may also create databases, as tests clone theirs from a template. */
  readonly migrationDatabaseUrl: string;
  readonly databaseUrl: string;
  readonly port: number;
  readonly dataDir: string;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
  /** Stops it in the given way and starts it again on the same port and data. */
  restart(mode: 'fast' | 'immediate'): Promise<void>;
}

/** Nobody's data: speed before safety. */
const SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' };

/** A Postgres of its own with fresh data, gone when it is stopped or when this process ends, however it ends. */
export async function startTemporaryPostgres(
  options: { postgresSettings?: Record<string, string> } = {},
): Promise<TemporaryPostgres> {
  const account = isRoot() ? findServiceAccount() : null;
  const directory = makeTemporaryDirectory(account);
  const dataDir = join(directory, 'data');
  const undertaker = startUndertaker(directory, dataDir);
  try {
    const binaries = reachableBinaries(findBinaries(), account, join(directory, 'binaries'));
    const location: ClusterLocation = { dataDir, binaries, account };
    await setUpCluster(location, { ownerMayCreateDatabases: true, durable: false });
    const start = { logFile: join(directory, 'log'), settings: { ...SETTINGS, ...options.postgresSettings } };
    const { port } = await startServer(location, start);
    return {
      ...clusterUrls(readPasswords(dataDir), port),
      port,
      dataDir,
      stop: () => bury(undertaker, directory, dataDir),
      restart: async (mode) => {
        await stopServer(dataDir, mode);
        const again = await startServer(location, { ...start, preferredPort: port });
        if (again.port !== port) throw new Error(`port ${port} was taken while the server was down`);
      },
    };
  } catch (error) {
    await bury(undertaker, directory, dataDir);
    throw error;
  }
}

function makeTemporaryDirectory(account: ServiceAccount | null): string {
  const places = [tmpdir(), '/var/tmp'];
  const place = places.find((one) => account === null || canReach(one, account)) ?? tmpdir();
  const directory = mkdtempSync(join(realpathSync(place), 'compliance-test-'));
  chmodSync(directory, 0o711);
  return directory;
}

/**
 * A shell that waits until its input ends, which happens when we close it and when we die of whatever cause, a killed
 * test run included; then it ends the server and removes the data. It sits in a session of its own, out of Ctrl-C's reach.
 */
function startUndertaker(directory: string, dataDir: string): ChildProcess {
  const script = `
    cat >/dev/null
    if read -r pid <"$2/postmaster.pid"; then
      kill -QUIT "$pid"
      for _ in 1 2 3 4 5 6 7 8 9 10; do kill -0 "$pid" || break; sleep 0.2; done
    fi
    rm -rf "$1"`;
  const shell = spawn('/bin/sh', ['-c', script, 'sh', directory, dataDir], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.unref();
  // The pipe must not keep a test process alive; a socket has unref, which the stream's type does not show.
  (shell.stdin as unknown as { unref(): void }).unref();
  shell.stdin.on('error', () => undefined);
  return shell;
}

async function bury(undertaker: ChildProcess, directory: string, dataDir: string): Promise<void> {
  if (undertaker.exitCode !== null || undertaker.signalCode !== null) return;
  await stopServer(dataDir, 'fast').catch(() => undefined);
  undertaker.ref();
  const gone = once(undertaker, 'exit');
  undertaker.stdin?.end();
  await gone;
  rmSync(directory, { recursive: true, force: true });
}
