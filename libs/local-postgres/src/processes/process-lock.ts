import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresFault } from '../embedded-postgres-fault';
import { formatIdentity, isAlive, ownIdentity, parseIdentity } from './process-identity';

const POLL_MILLISECONDS = 15;

/**
 * Runs `work` while no other process, and no other call in this process, runs under the same directory's lock.
 *
 * The lock is the ticket file with the highest number. An empty ticket is free; so is one whose holder died. Taking a
 * dead holder's lock means creating the next number, which only one process can do, so two processes cannot both win.
 * Deleting a stale lock file would lack this property: the second process would delete the fresh lock of the first.
 */
export async function withProcessLock<T>(
  directory: string,
  work: () => Promise<T>,
  patience: { waitAtMostSeconds: number; onLongWait?: (holderPid: number) => void },
): Promise<T> {
  mkdirSync(directory, { recursive: true });
  const started = Date.now();
  let announced = false;
  for (;;) {
    const ticket = tryToTake(directory);
    if (ticket !== null) {
      try {
        return await work();
      } finally {
        writeFileSync(ticket, '');
      }
    }
    const waitedSeconds = (Date.now() - started) / 1000;
    const holderPid = parseIdentity(readTicket(directory, highestTicket(directory)) ?? '')?.pid;
    if (waitedSeconds > patience.waitAtMostSeconds) {
      throw new EmbeddedPostgresFault(
        `Process ${holderPid ?? 'unknown'} has been starting or stopping the embedded Postgres for more than ` +
          `${patience.waitAtMostSeconds} seconds. Wait for it or end it, then try again.`,
      );
    }
    if (!announced && waitedSeconds > 3 && holderPid !== undefined) {
      announced = true;
      patience.onLongWait?.(holderPid);
    }
    await sleep(POLL_MILLISECONDS);
  }
}

function tryToTake(directory: string): string | null {
  const highest = highestTicket(directory);
  if (highest > 0 && !isFree(readTicket(directory, highest))) return null;
  const mine = highest + 1;
  if (!makeTicket(directory, mine)) return null;
  if (highestTicket(directory) !== mine) {
    // The number was used and removed meanwhile: a later ticket exists.
    rmSync(join(directory, String(mine)), { force: true });
    return null;
  }
  clearBelow(directory, mine);
  return join(directory, String(mine));
}

/** Null: the ticket vanished between listing and reading, so look again. */
function isFree(content: string | null): boolean {
  if (content === null) return false;
  const holder = parseIdentity(content);
  return holder === null || !isAlive(holder);
}

/** A ticket appears together with its content (by a hard link), so an empty one always means "released". */
function makeTicket(directory: string, ticket: number): boolean {
  const draft = join(directory, `draft-${process.pid}-${randomBytes(6).toString('hex')}`);
  writeFileSync(draft, formatIdentity(ownIdentity()), { flag: 'wx' });
  try {
    linkSync(draft, join(directory, String(ticket)));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function tickets(directory: string): number[] {
  return readdirSync(directory)
    .filter((name) => /^[1-9][0-9]*$/.test(name))
    .map(Number);
}

function highestTicket(directory: string): number {
  return Math.max(0, ...tickets(directory));
}

function readTicket(directory: string, ticket: number): string | null {
  try {
    return readFileSync(join(directory, String(ticket)), 'utf8');
  } catch {
    return null;
  }
}

function clearBelow(directory: string, ticket: number): void {
  for (const old of tickets(directory)) if (old < ticket) rmSync(join(directory, String(old)), { force: true });
}
