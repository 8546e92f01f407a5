import { setTimeout as delay } from 'node:timers/promises';

const LONGEST_MS = 60_000;

/** Asks every 50 ms until it is so. @throws after a minute, with what `explain` says */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  explain = (): string => 'It never came so far.',
): Promise<void> {
  for (const deadline = Date.now() + LONGEST_MS; !(await isSo()); await delay(50)) {
    if (Date.now() > deadline) throw new Error(explain());
  }
}
