import { linkSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;
/** Work under the lock takes milliseconds. A holder of this age has crashed. */
const ABANDONED_AFTER_MS = 5_000;
const TICKET = /^\.keys-lock-([1-9][0-9]*)$/;
const HELD = 'held\n';

const ticketPath = (directory: string, ticket: number): string => join(directory, `.keys-lock-${ticket}`);

/**
 * Runs `work`, which must be short, while no other process runs under the lock of the same directory, on this machine
 * or another.
 *
 * The lock is the ticket file with the highest number. An empty ticket is free; so is one that was held longer than
 * work takes. Taking the lock means creating the next number, which only one process can do. So of two processes that
 * see the same crashed holder, one wins. The last ticket stays, empty, because numbers must not repeat.
 */
export async function withKeyLock<Result>(directory: string, work: () => Result | Promise<Result>): Promise<Result> {
  let seen = -1;
  let since = 0;
  for (;;) {
    const highest = Math.max(0, ...tickets(directory));
    if (highest !== seen) [seen, since] = [highest, performance.now()];
    if (isFree(directory, highest) || performance.now() - since > ABANDONED_AFTER_MS) {
      if (take(directory, highest + 1)) {
        try {
          return await work();
        } finally {
          writeFileSync(ticketPath(directory, highest + 1), '');
        }
      }
    }
    await sleep(POLL_MS);
  }
}

function take(directory: string, ticket: number): boolean {
  const path = ticketPath(directory, ticket);
  const draft = join(directory, `.keys-lock-${randomUUID()}`);
  // Linked with its content, so that an empty ticket always means "released". Not secret: other users' commands read
  // it.
  writeFileSync(draft, HELD, { mode: 0o644 });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  if (Math.max(...tickets(directory)) !== ticket) {
    // The number was used and removed meanwhile: a later ticket exists.
    rmSync(path, { force: true });
    return false;
  }
  for (const old of tickets(directory)) if (old < ticket) rmSync(ticketPath(directory, old), { force: true });
  return true;
}

function isFree(directory: string, ticket: number): boolean {
  if (ticket === 0) return true;
  try {
    return readFileSync(ticketPath(directory, ticket), 'utf8') === '';
  } catch (error) {
    // Removed since it was listed: look again.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function tickets(directory: string): number[] {
  return readdirSync(directory).flatMap((name) => {
    const [, ticket] = TICKET.exec(name) ?? [];
    return ticket === undefined ? [] : [Number(ticket)];
  });
}
