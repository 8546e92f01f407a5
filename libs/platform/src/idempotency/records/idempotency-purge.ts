import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Optional } from '@nestjs/common';
import { RepeatedWork } from '../../background/repeated-work';
import { Database } from '../../database/database';
import { bind, prepared } from '../../database/pipelined-statements';

const INTERVAL_MS = 60_000;
const BATCH = 1_000;
/** Pause between batches, so that a long purge leaves the disk to others. */
const PAUSE_MS = 50;
const PURGE = prepared('idempotency_purge', 'SELECT purge_idempotency_records($1::integer)');

/**
 * Removes expired records of every workspace at a limited pace, every minute while the instance serves. Only one instance
 * purges at a time.
 */
@Injectable()
export class IdempotencyPurge extends RepeatedWork {
  constructor(
    private readonly database: Database,
    @Optional() intervalMs = INTERVAL_MS,
  ) {
    super(intervalMs, 'idempotency records were not purged');
  }

  /**
   * Purges until no expired record is left and returns their number. `whenBusy` decides whether to wait for another
   * purge or leave the work to it. `onBatch` is called after every batch and may throw to stop.
   * @throws while the clocks of Postgres and of this process do not agree
   */
  async run(whenBusy: 'wait' | 'leave', onBatch: (purged: number) => void = () => undefined): Promise<number> {
    await this.database.assertClocksAgree();
    let total = 0;
    for (;;) {
      const purged = await this.purgeBatch();
      if (purged === null && whenBusy === 'leave') return total;
      total += purged ?? 0;
      onBatch(total);
      if (purged !== null && purged < BATCH) return total;
      await delay(PAUSE_MS);
    }
  }

  protected async round(): Promise<void> {
    const purged = await this.run('leave', () => {
      this.assertServing();
      this.succeededAt = Date.now();
    });
    if (purged > 0) this.logger.log({ message: 'purged idempotency records', purged });
  }

  /** Returns null while another instance purges. */
  private async purgeBatch(): Promise<number | null> {
    const [rows] = await this.database.run({ outsideTenants: true }, [bind(PURGE, [String(BATCH)])]);
    const purged = rows?.[0]?.[0] ?? null;
    return purged === null ? null : Number(purged);
  }
}
