import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';

/**
 * Lets one stream of the instance work at a time, for one short step. Streams that wait have their turns in the order in
 * which they asked. Before each step the event loop serves other requests.
 */
export class StreamTurns {
  private last: Promise<unknown> = Promise.resolve();

  take<Result>(step: () => Result | Promise<Result>): Promise<Result> {
    const turn = this.last.then(() => nextTurnOfLoop()).then(step);
    this.last = turn.catch(() => undefined);
    return turn;
  }
}
