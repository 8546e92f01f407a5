import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { isCluster, locateCluster, makeLocalDirectory } from './cluster/cluster-location';
import { addConsoleRole, clusterUrls, readPasswords } from './cluster/cluster-roles';
import { setUpCluster } from './cluster/cluster-setup';
import { faultFrom } from './embedded-postgres-fault';
import { startServer, stopServer } from './cluster/postgres-server';
import { readPostmasterFile } from './cluster/postmaster-file';
import { withProcessLock } from './processes/process-lock';
import { findRunningServer } from './cluster/running-server';
import { addServerUser, hasLiveUsers, removeServerUser } from './accounts/server-users';

export interface EmbeddedPostgres {
  /** Connects as the owner of the database, who is no superuser. For migrations and operators' commands. */
  readonly migrationDatabaseUrl: string;
  /** Connects as the runtime role: neither owner nor superuser, without BYPASSRLS. */
  readonly databaseUrl: string;
  /** Connects as the role of the console, which has fewer rights still. */
  readonly consoleDatabaseUrl: string;
  /** Releases the server. Its last user stops it. */
  close(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  readonly localDir: string;
  readonly say?: (line: string) => void;
}

/**
 * Opens the database in the local directory. Creates it if necessary, starts its server if none runs, and shares the
 * server with other processes. If a process dies without closing, the server keeps running for the next one.
 */
export async function openEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const say = options.say ?? (() => undefined);
  try {
    makeLocalDirectory(options.localDir);
    const localDir = realpathSync(options.localDir);
    return await underLock(localDir, say, () => open(localDir, say));
  } catch (error) {
    throw faultFrom(error, `The embedded Postgres cannot be used in ${options.localDir}`);
  }
}

async function open(localDir: string, say: (line: string) => void): Promise<EmbeddedPostgres> {
  const location = locateCluster(localDir, say);
  const { dataDir } = location;
  if (!isCluster(dataDir)) {
    say(`Making a database in ${dataDir} …`);
    await setUpCluster(location, { ownerMayCreateDatabases: false, durable: true });
  }
  const kept = readPasswords(dataDir);
  const running = await findRunningServer(dataDir, (port) => clusterUrls(kept, port).databaseUrl, say);
  // After a crash of the server, clients that hold its address find it again on the same port.
  const preferredPort = readPostmasterFile(dataDir)?.port;
  const server =
    running ?? (await startServer(location, { logFile: join(localDir, 'postgres.log'), preferredPort, say }));
  const lease = addServerUser(usersOf(localDir));
  const passwords = kept.console === '' ? await addConsoleRole(dataDir, kept, server.port) : kept;
  const { migrationDatabaseUrl, databaseUrl, consoleDatabaseUrl } = clusterUrls(passwords, server.port);
  let closing: Promise<void> | undefined;
  return {
    migrationDatabaseUrl,
    databaseUrl,
    consoleDatabaseUrl,
    close: () => (closing ??= underLock(localDir, say, () => giveUp(localDir, dataDir, lease))),
  };
}

async function giveUp(localDir: string, dataDir: string, lease: string): Promise<void> {
  removeServerUser(lease);
  if (hasLiveUsers(usersOf(localDir))) return;
  try {
    await stopServer(dataDir, 'fast');
  } catch (error) {
    throw faultFrom(error, `The embedded Postgres in ${dataDir} cannot be stopped`);
  }
}

function underLock<T>(localDir: string, say: (line: string) => void, work: () => Promise<T>): Promise<T> {
  return withProcessLock(join(localDir, 'postgres-lock'), work, {
    waitAtMostSeconds: 300,
    onLongWait: (pid) => say(`Waiting for process ${pid}, which is starting or stopping the embedded Postgres …`),
  });
}

function usersOf(localDir: string): string {
  return join(localDir, 'postgres-users');
}
