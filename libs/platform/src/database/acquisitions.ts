import type { Pool } from 'pg';
import { connectionTimedOut } from './database-fault';

/** Numbers of connections, of those who wait for one, and of those who waited in vain since the start of the process. */
export interface PoolUse {
  readonly size: number;
  readonly inUse: number;
  readonly idle: number;
  readonly waiting: number;
  readonly timeouts: number;
}

/** Who has connections of a pool, and who has not had one in time. */
export class Acquisitions {
  private timeouts = 0;

  constructor(
    private readonly pool: Pool,
    /** Those who wait for their turn to ask the pool. */
    private readonly queued: () => number = () => 0,
  ) {}

  get use(): PoolUse {
    const { totalCount, idleCount, waitingCount, options } = this.pool;
    const waiting = waitingCount + this.queued();
    return { size: options.max, inUse: totalCount - idleCount, idle: idleCount, waiting, timeouts: this.timeouts };
  }

  /** What `work` gives or throws; that it had no connection in time is counted. */
  async counted<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (connectionTimedOut(error)) this.timeouts += 1;
      throw error;
    }
  }
}
