import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database';
import { type Statement, bind } from '../../database/pipelined-statements';

const BATCH = 1_000;
/** Between batches, so that removing many never keeps others from the disk. */
const PAUSE_MS = 50;
const PURGE: Statement = { name: 'idempotency_purge_1', text: 'SELECT purge_idempotency_records($1::integer)' };

/** Removes dead records of every workspace: at a pace, and one process at a time. */
@Injectable()
export class IdempotencyPurge {
  constructor(private readonly database: Database) {}

  /**
   * Goes on until none is left, and gives how many there were. While another process is at it this one waits, or with
   * `whenBusy: 'leave'` leaves it to the other. `onBatch` hears of every batch and may throw to stop.
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

  /** Null while another process purges. */
  private async purgeBatch(): Promise<number | null> {
    const [rows] = await this.database.run({ outsideTenants: true }, [bind(PURGE, [String(BATCH)])]);
    const purged = rows?.[0]?.[0] ?? null;
    return purged === null ? null : Number(purged);
  }
}
