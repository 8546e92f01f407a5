import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOnce } from '#libs/platform/config';
import { EmbeddedPostgresFault } from '../embedded-postgres-fault';
import { formatIdentity, isAlive, ownIdentity, parseIdentity } from './process-identity';

const POLL_MILLISECONDS = 15;

/**
 * Runs `work` while no other process, and no other call in this process, runs under the same directory's lock.
 *
 * The directory holds numbered files, of which the highest is the lock. A file names its holder. It is free once it
 * is empty or its holder died. Taking the lock means creating the next number, which only one process can do, so of two
 * that see the same crashed holder one wins. The last file stays, because numbers must not repeat.
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
    const highest = Math.max(0, ...numbersIn(directory));
    const holder = highest === 0 ? FREE : holderOf(join(directory, String(highest)));
    if (!isHeld(holder) && take(directory, highest + 1)) {
      try {
        return await work();
      } finally {
        writeFileSync(join(directory, String(highest + 1)), FREE);
      }
    }
    const waitedSeconds = (Date.now() - started) / 1000;
    const holderPid = parseIdentity(holder)?.pid;
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

const FREE = '';

function numbersIn(directory: string): number[] {
  return readdirSync(directory)
    .filter((name) => /^[1-9][0-9]*$/.test(name))
    .map(Number);
}

/** A file that has vanished since it was listed is free: the next number exists, so it cannot be taken. */
function holderOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return FREE;
    throw error;
  }
}

function isHeld(holder: string): boolean {
  const identity = parseIdentity(holder);
  return identity !== null && isAlive(identity);
}

/** Takes the lock by its next number. Returns false when another process was first. */
function take(directory: string, number: number): boolean {
  // Not secret: commands of other users read it.
  const path = join(directory, String(number));
  if (!createOnce(path, formatIdentity(ownIdentity()), { mode: 0o644 })) return false;
  const others = numbersIn(directory).filter((other) => other !== number);
  // The number was used and removed meanwhile: a later one exists.
  if (others.some((other) => other > number)) {
    rmSync(path, { force: true });
    return false;
  }
  for (const old of others) rmSync(join(directory, String(old)), { force: true });
  return true;
}
