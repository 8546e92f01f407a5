import { ConnectionPool, type PoolUse } from './connection-pool';
import { standbyPool } from './data-source';
import { connectionTimedOut, databaseIsAway } from './database-fault';
import { type BoundStatement, type TextRow, bind, prepared } from '../pipelined-statements';

/** A standby that lags further is not used. */
export const MAX_LAG_MS = 5_000;
/** After this long the read goes to the primary, which needs time too. */
const PATIENCE_MS = 1_500;
/** A standby that was lost, refused a connection or was silent is not used for this long. */
const REST_MS = 5_000;
/** The same holds for one that failed so many reads in a row. One read may fail by its own fault. */
const MOST_FAILURES = 5;

const STATE = bind(
  prepared(
    'standby_state',
    `
    SELECT pg_is_in_recovery(), pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::text,
           system_identifier || '/' || lpad(upper(to_hex(timeline_id)), 8, '0')
      FROM pg_control_system(), pg_control_checkpoint()`,
  ),
  [],
);

/** The end of the primary's write-ahead log at one moment. */
export interface PrimaryState {
  /** Time of `performance.now()` before the primary was asked. The log holds every commit up to then. */
  readonly at: number;
  readonly position: bigint;
  /** The system identifier and the timeline. Both change when another server becomes the primary. */
  readonly history: string;
}

export interface StandbyUse extends PoolUse {
  readonly isUsed: boolean;
  /** The age of what reads from it show, at most. Null while it is not known. */
  readonly lagMilliseconds: number | null;
}

/** A log line. `pool` is the label of the standby's metrics. */
export interface StandbyEvent {
  readonly message: 'standby is used' | 'standby is not used';
  readonly pool: string;
  readonly reason?: string;
}

/** A streaming copy of the primary that serves reads. */
export class Standby {
  private readonly pool: ConnectionPool;
  /** The standby shows every commit up to this time of `performance.now()`. */
  private completeUpTo = -Infinity;
  private restsUntil = -Infinity;
  private failures = 0;
  private saidUsed: boolean | null = null;

  constructor(
    private readonly name: string,
    url: string,
    poolSize: number,
    preparedStatements: boolean,
    private readonly log: (event: StandbyEvent) => void,
  ) {
    this.pool = new ConnectionPool(standbyPool(url, poolSize, preparedStatements));
  }

  get isUsed(): boolean {
    const now = performance.now();
    return now >= this.restsUntil && now - this.completeUpTo <= MAX_LAG_MS;
  }

  get use(): StandbyUse {
    const lag = performance.now() - this.completeUpTo;
    return { ...this.pool.use, isUsed: this.isUsed, lagMilliseconds: Number.isFinite(lag) ? lag : null };
  }

  /**
   * Returns the rows of each statement.
   * @throws after 1.5 seconds at most. The standby then stays unused for a while, but not for a few faults of statements or
   * a full pool
   */
  async read(statements: readonly BoundStatement[]): Promise<TextRow[][]> {
    try {
      const rows = await this.pool.run(statements, performance.now() + PATIENCE_MS);
      this.failures = 0;
      return rows;
    } catch (error) {
      // Many wait at once for a full pool, which tells nothing of the standby.
      if (!connectionTimedOut(error)) this.failures += 1;
      if (databaseIsAway(error) || this.failures >= MOST_FAILURES) {
        this.failures = 0;
        this.restsUntil = performance.now() + REST_MS;
        this.say(`it failed a read (${reasonOf(error)})`);
      }
      throw error;
    }
  }

  /** Compares this standby with recent states of the primary, oldest first. Never rejects. */
  async compareWith(primary: readonly PrimaryState[]): Promise<void> {
    try {
      const [rows] = await this.pool.run([STATE]);
      const [inRecovery, replayed, history] = rows?.[0] ?? [];
      const isOfPrimary = inRecovery === 't' && history === primary.at(-1)?.history;
      const shown = primary.findLast(({ position }) => isOfPrimary && position <= BigInt(replayed ?? 0));
      this.completeUpTo = shown?.at ?? -Infinity;
      this.say(isOfPrimary ? `it lags more than ${MAX_LAG_MS / 1_000} s` : 'it is no standby of this primary');
    } catch (error) {
      // Reads may have filled the pool for a moment. A silent standby is dropped once it may lag too far.
      this.say(`it does not respond (${reasonOf(error)})`);
    }
  }

  /** The primary failed to tell its state. The standby soon goes out of use, or never comes into use. */
  lacksPrimary(error: unknown): void {
    this.say(`the primary does not tell the end of its log (${reasonOf(error)})`);
  }

  async close(): Promise<void> {
    await this.pool.end();
  }

  /** Logs when the standby comes into use or goes out of use. */
  private say(reason: string): void {
    const { isUsed } = this;
    if (isUsed === this.saidUsed) return;
    this.saidUsed = isUsed;
    const pool = this.name;
    this.log(isUsed ? { message: 'standby is used', pool } : { message: 'standby is not used', pool, reason });
  }
}

/** The reason for the log, without addresses. */
function reasonOf(error: unknown): string {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return typeof code === 'string' ? code : String(message);
}
