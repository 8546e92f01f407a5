import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database';
import { type Statement, bind } from '../../database/pipelined-statements';

const BATCH = 1_000;
/** Pause between batches, so that a long purge leaves the disk to others. */
const PAUSE_MS = 50;
const PURGE: Statement = { name: 'idempotency_purge_1', text: 'SELECT purge_idempotency_records($1::integer)' };

/** Removes expired records of every workspace at a limited pace. Only one instance purges at a time. */
@Injectable()
export class IdempotencyPurge {
  constructor(private readonly database: Database) {}

  /**
   * Purges until no expired record is left and returns their number. `whenBusy` decides whether to wait for another
   * purge or leave the work to it. `onBatch` is called after every batch and may throw to stop.
   */
  async run(whenBusy: 'wait' | 'leave', onBatch: (purged: number) => void = () => undefined): Promise<number> {
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

  /** Returns null while another instance purges. */
  private async purgeBatch(): Promise<number | null> {
    const [rows] = await this.database.run({ outsideTenants: true }, [bind(PURGE, [String(BATCH)])]);
    const purged = rows?.[0]?.[0] ?? null;
    return purged === null ? null : Number(purged);
  }
}
