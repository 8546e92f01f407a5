import { type BeforeApplicationShutdown, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { type IdempotencyPurge } from './idempotency-purge';

const INTERVAL_MS = 60_000;

/** Purges every minute while the instance serves. Logs a failure and tries again a minute later. */
export class IdempotencyPurgeWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Idempotency');
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<void> = Promise.resolve();
  private stopping = false;

  constructor(
    private readonly purge: IdempotencyPurge,
    private readonly intervalMs = INTERVAL_MS,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setTimeout(() => {
      this.running = this.round();
    }, this.intervalMs).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    if (this.timer) clearTimeout(this.timer);
    await this.running;
  }

  private async round(): Promise<void> {
    try {
      const purged = await this.purge.run('leave', () => this.assertGoingOn());
      if (purged > 0) this.logger.log({ message: 'purged idempotency records', purged });
    } catch (error) {
      if (!this.stopping) this.logger.warn({ message: 'idempotency records were not purged', error });
    }
    if (!this.stopping) this.onApplicationBootstrap();
  }

  private assertGoingOn(): void {
    if (this.stopping) throw new Error('The process stops.');
  }
}
