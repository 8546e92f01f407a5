import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type ClusterLocation } from '../../libs/local-postgres/src/cluster/cluster-location';
import { clusterUrls, readPasswords } from '../../libs/local-postgres/src/cluster/cluster-roles';
import { setUpCluster } from '../../libs/local-postgres/src/cluster/cluster-setup';
import { findBinaries } from '../../libs/local-postgres/src/postgres-binaries';
import { startServer, stopServer } from '../../libs/local-postgres/src/cluster/postgres-server';
import { findServiceAccount, isRoot } from '../../libs/local-postgres/src/accounts/service-account';
import { reachableBinaries } from '../../libs/local-postgres/src/accounts/substitute-directory';
import { freePort } from './free-port';

export interface TemporaryPostgres {
  readonly superuserUrl: string;
  /** Connects as the owner, who may also create databases, because tests clone theirs from a template. */
  readonly migrationDatabaseUrl: string;
  readonly databaseUrl: string;
  readonly consoleDatabaseUrl: string;
  readonly port: number;
  readonly dataDir: string;
  readonly location: ClusterLocation;
  /** A directory of the server's own user, removed with the server. */
  readonly directory: string;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
  /** Stops the server, where `immediate` is a crash, and restarts it after a pause with the same port and data. */
  restart(mode: 'fast' | 'immediate', downForMs?: number): Promise<void>;
}

/** Test data is worthless: speed before safety. */
export const FAST_SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '200',
};

/** Starts a new Postgres with fresh data. `forTheRun`: keeps a copy of the data, with which later ones start faster. */
export async function startTemporaryPostgres(
  options: { postgresSettings?: Record<string, string>; forTheRun?: boolean } = {},
): Promise<TemporaryPostgres> {
  const account = isRoot() ? findServiceAccount() : null;
  const directory = mkdtempSync(join(realpathSync(tmpdir()), 'postgres-'));
  chmodSync(directory, 0o711);
  const dataDir = join(directory, 'data');
  const binaries = reachableBinaries(findBinaries(), account, join(directory, 'binaries'));
  const location: ClusterLocation = { dataDir, binaries, account };
  const kept = process.env['TEST_FRESH_CLUSTER'];
  if (kept === undefined) await setUpCluster(location, { ownerMayCreateDatabases: true, durable: false });
  else execFileSync('cp', ['-a', kept, dataDir]);
  if (options.forTheRun) {
    const copy = join(directory, 'fresh');
    execFileSync('cp', ['-a', dataDir, copy]);
    process.env['TEST_FRESH_CLUSTER'] = copy;
  }
  const start = { logFile: join(directory, 'log'), settings: { ...FAST_SETTINGS, ...options.postgresSettings } };
  // A port that stays available for a restart: see freePort.
  const { port } = await startServer(location, { ...start, preferredPort: await freePort() });
  return {
    ...clusterUrls(readPasswords(dataDir), port),
    port,
    dataDir,
    location,
    directory,
    stop: async () => {
      await stopServer(dataDir, 'fast').catch(() => undefined);
      rmSync(directory, { recursive: true, force: true });
    },
    restart: async (mode, downForMs = 0) => {
      await stopServer(dataDir, mode);
      await delay(downForMs);
      const again = await startServer(location, { ...start, preferredPort: port });
      if (again.port !== port) throw new Error(`port ${port} was taken while the server was down`);
    },
  };
}
