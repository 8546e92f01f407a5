import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Kills a server's postmaster and its children by SIGKILL. The postmaster goes first, so that it neither restarts,
 * writes nor logs anything.
 */
export function killServer(dataDir: string): void {
  signalServer(dataDir, 'SIGKILL');
}

/** Signals a server's postmaster and then its children. */
export function signalServer(dataDir: string, signal: NodeJS.Signals): void {
  const postmaster = Number(readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n')[0]);
  const children = childrenOf(postmaster);
  for (const pid of [postmaster, ...children]) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === parent)
    .map(Number);
}

/** The fourth field of the status, after a name in brackets that may contain anything. */
function parentOf(pid: string): number | null {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return null;
  }
}
