import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClusterLocation } from './cluster-location';
import { EmbeddedPostgresFault, faultFrom } from '../embedded-postgres-fault';
import { disownStalePostmasterFile, findPostmaster, readPostmasterFile } from './postmaster-file';
import { commandOf, isPidAlive } from '../processes/process-identity';
import { type ServiceAccount } from '../accounts/service-account';
import { lastLines, launchFault, launchOptions, hintFor } from '../processes/run-program';

const START_SECONDS = 180;
/** Time for the remains of a killed server to vanish: its workers, shared memory and port. */
const PASSING_MS = 15_000;
/** Maximum wait for another server of the same data, which may be stopping. */
const HELD_MS = 5_000;
/**
 * Maximum wait for the preferred port. The system frees a killed server's sockets only once all its processes are gone.
 */
const PREFERRED_PORT_MS = 5_000;
const ROTATE_LOG_AT_BYTES = 5_000_000;

export interface ServerStart {
  readonly logFile: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** The port to try first. */
  readonly preferredPort?: number;
  readonly say?: (line: string) => void;
}

/**
 * Starts the server as a process and session of its own, and waits until it accepts connections. Ctrl-C does not reach
 * it, and it outlives us. Does not use pg_ctl, which checks only ten times a second and passes paths to a shell.
 */
export async function startServer(
  location: ClusterLocation,
  start: ServerStart,
): Promise<{ pid: number; port: number }> {
  rotateLog(start.logFile);
  const began = Date.now();
  for (; ; await sleep(100)) {
    disownStalePostmasterFile(location.dataDir);
    const port = await freePort(start.preferredPort, began + PREFERRED_PORT_MS);
    const failure = await attempt(location, start, port);
    if (failure === null) return { pid: readPostmasterFile(location.dataDir)?.pid ?? 0, port };
    // Another program took the port first, or a killed server is still ending: try again.
    const isHeld = /lock file .* already exists/.test(failure);
    const passing = /Address already in use|pre-existing shared memory block|lock file .* is empty/.test(failure);
    if (Date.now() < began + (isHeld ? HELD_MS : passing ? PASSING_MS : 0)) continue;
    const reason = isHeld ? holderOf(location.dataDir) : `${failure}${hintFor(failure)}`;
    throw faultFrom(new Error(`${reason}\n(log: ${start.logFile})`), 'The embedded Postgres did not start');
  }
}

function holderOf(dataDir: string): string {
  const pid = readPostmasterFile(dataDir)?.pid ?? 0;
  const stop = `If it is another server, stop it (kill -INT ${pid}) and start again.`;
  return `process ${pid} (${commandOf(pid) || 'unknown program'}) holds ${dataDir}. ${stop}`;
}

/** Returns null once the server accepts connections, else the last lines of its log. */
async function attempt(
  { dataDir, binaries, account }: ClusterLocation,
  { logFile, settings = {}, say }: ServerStart,
  port: number,
): Promise<string | null> {
  const logStart = existsSync(logFile) ? statSync(logFile).size : 0;
  const all = { ...settings, port: String(port), listen_addresses: '127.0.0.1', unix_socket_directories: '' };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = launchServer(binaries.postgres, ['-D', dataDir, ...flags], account, logFile);
  const end: { fault?: Error; reached: boolean } = { reached: false };
  server.once('error', (error) => (end.fault = launchFault(error, binaries.postgres, account)));
  server.once('exit', () => (end.reached = true));
  server.unref();
  const started = Date.now();
  for (let announced = false; ; await sleep(5)) {
    if (end.fault !== undefined) throw end.fault;
    const noted = readPostmasterFile(dataDir);
    if (noted?.ready && noted.pid === server.pid) return null;
    if (end.reached) return lastLines(readFileSync(logFile).subarray(logStart).toString('utf8'));
    const seconds = (Date.now() - started) / 1000;
    if (seconds > 3 && !announced) {
      announced = true;
      say?.(`Postgres is still starting; after a crash it first repairs its data (log: ${logFile}).`);
    }
    if (seconds > START_SECONDS) return `no sign of readiness after ${START_SECONDS} seconds; it goes on trying`;
  }
}

function launchServer(
  program: string,
  programArguments: readonly string[],
  account: ServiceAccount | null,
  logFile: string,
): ChildProcess {
  const log = openSync(logFile, 'a', 0o600);
  try {
    return spawn(program, programArguments, { ...launchOptions(account), detached: true, stdio: ['ignore', log, log] });
  } catch (error) {
    throw launchFault(error as Error, program, account);
  } finally {
    closeSync(log);
  }
}

/** Stops the server and waits until it is gone. `fast` ends sessions and writes all data; `immediate` is a crash. */
export async function stopServer(dataDir: string, mode: 'fast' | 'immediate'): Promise<void> {
  const server = findPostmaster(dataDir);
  if (server === null) return;
  signal(server.pid, mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
  for (const deadline = Date.now() + 60_000; isPidAlive(server.pid); await sleep(5)) {
    if (Date.now() > deadline) {
      throw new EmbeddedPostgresFault(`The embedded Postgres (process ${server.pid}) does not stop within 60 seconds.`);
    }
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function freePort(preferred: number | undefined, preferredUntil: number): Promise<number> {
  if (preferred !== undefined && preferred > 0) {
    do {
      if ((await tryPort(preferred)) !== null) return preferred;
      await sleep(50);
    } while (Date.now() < preferredUntil);
  }
  const port = await tryPort(0);
  if (port === null) throw new EmbeddedPostgresFault('The embedded Postgres finds no free port on 127.0.0.1.');
  return port;
}

function tryPort(wanted: number): Promise<number | null> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(null));
    probe.listen(wanted, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : null));
    });
  });
}

function rotateLog(logFile: string): void {
  if (existsSync(logFile) && statSync(logFile).size > ROTATE_LOG_AT_BYTES) renameSync(logFile, `${logFile}.1`);
}
