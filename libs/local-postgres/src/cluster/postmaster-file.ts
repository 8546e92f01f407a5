import { closeSync, constants, ftruncateSync, openSync, readFileSync, realpathSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isPidAlive, isPidTaken, runsIn } from '../processes/process-identity';

/** The content of `postmaster.pid`, in which a server describes itself. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  readonly ready: boolean;
}

/** Returns the server that runs from the data directory in any state, or null. */
export function findPostmaster(dataDir: string): Postmaster | null {
  const noted = readPostmasterFile(dataDir);
  const isServer = noted !== null && isPidAlive(noted.pid) && runsIn(noted.pid, 'postgres', realpathSync(dataDir));
  return isServer ? noted : null;
}

/** Returns the file's content, which may be stale. */
export function readPostmasterFile(dataDir: string): Postmaster | null {
  try {
    // Lines: pid, data directory, start time, port, socket directory, address, shared memory key, status.
    const lines = readFileSync(fileIn(dataDir), 'utf8').split('\n');
    const [pid, port] = [Number(lines[0]), Number(lines[3])];
    return Number.isInteger(pid) && pid > 0 ? { pid, port: port || 0, ready: lines[7]?.trim() === 'ready' } : null;
  } catch {
    return null;
  }
}

/**
 * Postgres refuses to start while a stale file names the pid of some running program, or of a killed server that nobody
 * has reaped. Deleting the file would lose the key by which Postgres recognises orphaned workers. So only the pid is
 * replaced, by ours: Postgres knows that its parent is not another server.
 */
export function disownStalePostmasterFile(dataDir: string): void {
  const noted = readPostmasterFile(dataDir);
  if (noted === null || !isPidTaken(noted.pid) || findPostmaster(dataDir) !== null) return;
  const descriptor = openSync(fileIn(dataDir), constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    const [, ...rest] = readFileSync(descriptor, 'utf8').split('\n');
    ftruncateSync(descriptor, 0);
    writeSync(descriptor, [String(process.pid), ...rest].join('\n'), 0);
  } finally {
    closeSync(descriptor);
  }
}

function fileIn(dataDir: string): string {
  return join(dataDir, 'postmaster.pid');
}
