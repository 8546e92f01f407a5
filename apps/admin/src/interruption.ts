import { Interrupted } from './command-faults';

/** How long work that was asked to end may go on before it is given up where it stands. */
const GRACE_MS = 5_000;
/** One Ctrl-C may come twice: from the terminal, and handed on by npm. */
const ONE_KEYSTROKE_MS = 1_000;

/**
 * Ctrl-C and its kin, from the making of this to the end of the process: a command ends its work, gives the database up
 * and only then exits. Asked a second time, it exits at once; an embedded server that it leaves is found by the next one.
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
        // Work that waits for more input would wait for ever.
        process.stdin.destroy();
        setTimeout(() => {
          // What is given up fails once its connections are cut, with nobody left to take the error.
          for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, () => undefined);
          this.giveUp(reason);
        }, GRACE_MS).unref();
      });
    }
  }

  /** For long work to call between its steps. Throws once the command was interrupted. */
  readonly check = (): void => {
    if (this.interrupted !== null) throw this.interrupted;
  };

  /** The result of work that came to its end in time all the same; else throws {@link Interrupted}. */
  async outcomeOf<Result>(work: Promise<Result>): Promise<Result> {
    const givenUp = new Promise<never>((_resolve, reject) => (this.giveUp = reject));
    try {
      return await Promise.race([work, givenUp]);
    } catch (error) {
      // What work fails of while everything around it ends is not the news.
      throw this.interrupted ?? error;
    }
  }
}
