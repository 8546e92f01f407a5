import { type BeforeApplicationShutdown, Logger, type OnApplicationBootstrap } from '@nestjs/common';

/**
 * Work that an instance repeats while it serves: a pause, a round, a pause again. Rounds never overlap. A failed round is
 * logged, and the next one tries again.
 */
export abstract class RepeatedWork implements OnApplicationBootstrap, BeforeApplicationShutdown {
  protected readonly logger = new Logger(this.constructor.name);
  protected stopping = false;
  /** When a round or a step of one last succeeded, in milliseconds since 1970. Before the first one, the start. */
  succeededAt = Date.now();
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly pauseMs: number,
    /** The log message of a failed round. */
    private readonly failure: string,
  ) {}

  /** Returns false when it failed and has logged why. */
  protected abstract round(): Promise<boolean | void>;

  async onApplicationBootstrap(): Promise<void> {
    this.pause();
  }

  /** Waits for the current round. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    if (this.timer) clearTimeout(this.timer);
    await this.running;
  }

  /** Long rounds call it between steps. @throws once the instance stops */
  protected assertServing(): void {
    if (this.stopping) throw new Error('The process stops.');
  }

  private pause(): void {
    if (this.stopping) return;
    this.timer = setTimeout(() => {
      this.running = this.runRound();
    }, this.pauseMs).unref();
  }

  private async runRound(): Promise<void> {
    try {
      if ((await this.round()) !== false) this.succeededAt = Date.now();
    } catch (error) {
      if (!this.stopping) this.logger.warn({ message: this.failure, error });
    }
    this.pause();
  }
}
