import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';

/** A process, identified by pid and start time, because pids are reused. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startedAt: string;
}

/** The process is alive, but the system hides its start time (another user's process under a hardened /proc). */
const UNKNOWN_START = 'unknown';

export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, startedAt: startOf(process.pid) ?? UNKNOWN_START };
}

/** Tells whether exactly this process lives. Another program with the same pid does not count. */
export function isAlive(identity: ProcessIdentity): boolean {
  const startedAt = startOf(identity.pid);
  if (startedAt === null) return false;
  return startedAt === UNKNOWN_START || identity.startedAt === UNKNOWN_START || startedAt === identity.startedAt;
}

/** Tells whether any process has this pid. A zombie does not count. */
export function isPidAlive(pid: number): boolean {
  return startOf(pid) !== null;
}

export function parseIdentity(text: string): ProcessIdentity | null {
  const [pid, startedAt] = text.trim().split(' ', 2);
  return pid !== undefined && startedAt !== undefined && /^[1-9][0-9]*$/.test(pid)
    ? { pid: Number(pid), startedAt }
    : null;
}

export function formatIdentity(identity: ProcessIdentity): string {
  return `${identity.pid} ${identity.startedAt}\n`;
}

/** Tells whether the system knows this pid. A zombie counts. */
export function isPidTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Tells whether the process is that program and runs in that directory, as a Postgres server does in its data
 * directory. True when unknown.
 */
export function runsIn(pid: number, program: string, directory: string): boolean {
  try {
    if (process.platform !== 'linux') return commandOf(pid).includes(`${program} -D ${directory}`);
    return (
      readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === program && readlinkSync(`/proc/${pid}/cwd`) === directory
    );
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' && isPidAlive(pid);
  }
}

/** The command line of the process; empty when unknown. */
export function commandOf(pid: number): string {
  try {
    if (process.platform !== 'linux') return processColumns(pid, 'command=');
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

function startOf(pid: number): string | null {
  if (!isPidTaken(pid)) return null;
  try {
    return process.platform === 'linux' ? startFromProc(pid) : startFromPs(pid);
  } catch {
    return isPidTaken(pid) ? UNKNOWN_START : null;
  }
}

function startFromProc(pid: number): string | null {
  // The program's name is in brackets and may contain blanks, so fields are counted from the last bracket.
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return null;
  // Field 22 counts ticks since boot. The boot id separates one boot from the next.
  return `${fields[19]}@${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}`;
}

function startFromPs(pid: number): string | null {
  const [state, ...startedAt] = processColumns(pid, 'stat=,lstart=').split(/\s+/);
  return state === undefined || state.startsWith('Z') ? null : startedAt.join('_');
}

function processColumns(pid: number, columns: string): string {
  return execFileSync('ps', ['-ww', '-o', columns, '-p', String(pid)], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}
