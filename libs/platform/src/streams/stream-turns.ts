import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';

/**
 * Lets one stream of the instance work at a time, for one short step. Streams that wait have their turns in the order in
 * which they asked. Before each step the event loop serves other requests.
 */
export class StreamTurns {
  private isTaken = false;
  private readonly line: (() => void)[] = [];

  async take<Result>(step: () => Result | Promise<Result>): Promise<Result> {
    if (this.isTaken) await new Promise<void>((resolve) => this.line.push(resolve));
    this.isTaken = true;
    try {
      await nextTurnOfLoop();
      return await step();
    } finally {
      const next = this.line.shift();
      if (next) next();
      else this.isTaken = false;
    }
  }
}
