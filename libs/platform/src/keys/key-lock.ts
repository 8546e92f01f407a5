import { setTimeout as sleep } from 'node:timers/promises';
import { TicketFiles } from './ticket-files';

const POLL_MS = 20;
/** Work under the lock takes milliseconds. A holder of this age has crashed. */
const ABANDONED_AFTER_MS = 5_000;

/**
 * Runs `work`, which must be short, while no other process runs under the lock of the same directory, on this machine
 * or another. A ticket that was held longer than work takes is free.
 */
export async function withKeyLock<Result>(directory: string, work: () => Result | Promise<Result>): Promise<Result> {
  const tickets = new TicketFiles(directory, '.keys-lock-');
  let seen = -1;
  let since = 0;
  for (;;) {
    const highest = tickets.highest();
    if (highest !== seen) [seen, since] = [highest, performance.now()];
    const isFree = highest === 0 || tickets.read(highest) === '' || performance.now() - since > ABANDONED_AFTER_MS;
    if (isFree && tickets.take(highest + 1, 'held\n')) {
      try {
        return await work();
      } finally {
        tickets.release(highest + 1);
      }
    }
    await sleep(POLL_MS);
  }
}
