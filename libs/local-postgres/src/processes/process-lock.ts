import { mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { TicketFiles } from '#libs/platform/keys';
import { EmbeddedPostgresFault } from '../embedded-postgres-fault';
import { formatIdentity, isAlive, ownIdentity, parseIdentity } from './process-identity';

const POLL_MILLISECONDS = 15;

/**
 * Runs `work` while no other process, and no other call in this process, runs under the same directory's lock.
 * A ticket names its holder. It is free once its holder died.
 */
export async function withProcessLock<T>(
  directory: string,
  work: () => Promise<T>,
  patience: { waitAtMostSeconds: number; onLongWait?: (holderPid: number) => void },
): Promise<T> {
  mkdirSync(directory, { recursive: true });
  const tickets = new TicketFiles(directory);
  const started = Date.now();
  let announced = false;
  for (;;) {
    const highest = tickets.highest();
    const content = highest === 0 ? '' : tickets.read(highest);
    if (isFree(content) && tickets.take(highest + 1, formatIdentity(ownIdentity()))) {
      try {
        return await work();
      } finally {
        tickets.release(highest + 1);
      }
    }
    const waitedSeconds = (Date.now() - started) / 1000;
    const holderPid = parseIdentity(content ?? '')?.pid;
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

/** Null: the ticket vanished between listing and reading, so look again. */
function isFree(content: string | null): boolean {
  if (content === null) return false;
  const holder = parseIdentity(content);
  return holder === null || !isAlive(holder);
}
