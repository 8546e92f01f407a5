import { Interrupted } from './command-faults';

/** Time for interrupted work to finish before it is abandoned. */
const GRACE_MS = 5_000;
/** One Ctrl-C may arrive twice: from the terminal and from npm. */
const ONE_KEYSTROKE_MS = 1_000;

/**
 * Handles Ctrl-C and similar signals until the process ends. A command finishes its current step, releases the database
 * and exits. A second signal exits at once; the next command reuses an embedded server left running.
 */
export class Interruption {
  private interrupted: Interrupted | null = null;
  private interruptedAt = 0;
  private giveUp: (reason: Interrupted) => void = () => undefined;

  constructor() {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (this.interrupted !== null) {
          if (Date.now() - this.interruptedAt > ONE_KEYSTROKE_MS) process.exit(this.interrupted.exitCode);
          return;
        }
        const reason = new Interrupted(signal);
        this.interrupted = reason;
        this.interruptedAt = Date.now();
        // Work that waits for input would never end.
        process.stdin.destroy();
        setTimeout(() => {
          // Abandoned work fails once its connections close, and nobody handles that error.
          for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, () => undefined);
          this.giveUp(reason);
        }, GRACE_MS).unref();
      });
    }
  }

  /** Long work calls it between steps. @throws once the command was interrupted */
  readonly check = (): void => {
    if (this.interrupted !== null) throw this.interrupted;
  };

  /** Returns the result of work that finished in time. @throws {@link Interrupted} otherwise */
  async outcomeOf<Result>(work: Promise<Result>): Promise<Result> {
    const outer = this.giveUp;
    const givenUp = new Promise<never>((_resolve, reject) => (this.giveUp = reject));
    try {
      return await Promise.race([work, givenUp]);
    } catch (error) {
      // Errors during shutdown only follow from it.
      throw this.interrupted ?? error;
    } finally {
      // Work inside other work gives up first. The rest of the outer work can be given up, too.
      this.giveUp = outer;
    }
  }
}
