import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Kills a server's postmaster and all that it has started by SIGKILL, the postmaster first: it starts nobody anew, writes
 * nothing and says nothing.
 */
export function killServer(dataDir: string): void {
  signalServer(dataDir, 'SIGKILL');
}

/** To a server's postmaster and all that it has started, the postmaster first. */
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

/** The fourth field of its status, behind a name in brackets that may hold anything. */
function parentOf(pid: string): number | null {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return null;
  }
}
