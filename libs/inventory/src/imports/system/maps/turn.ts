import { setImmediate as nextTurn } from 'node:timers/promises';

/** Each step of a request waits so long for the work on items, and a page has many. Promises alone let none of them run. */
const TURN_MS = 2;

let begun = 0;

export const isTurnOver = (): boolean => performance.now() - begun > TURN_MS;

/** Lets requests and timers of the process run. */
export async function endTurn(): Promise<void> {
  await nextTurn();
  begun = performance.now();
}
