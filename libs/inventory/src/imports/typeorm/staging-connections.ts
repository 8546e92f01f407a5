import type { Pool, PoolClient } from 'pg';
import { CREATE_TABLES } from './batch-statements';
import type { StagingConnection } from './staging-connection';

/**
 * Joins use indexes row by row, because a batch is small compared with an inventory. Plans are generic: while a
 * workspace is being filled, statistics would claim that it has a single row.
 */
const PLAN =
  'SET enable_hashjoin = off; SET enable_mergejoin = off; SET plan_cache_mode = force_generic_plan; SET jit = off';
/** A transaction is idle while the previous batch is written. */
const REST = 'SET idle_in_transaction_session_timeout = 0';
export const OPEN_STAGING = `${PLAN}; ${REST}; ${CREATE_TABLES}`;
const DEFAULTS =
  'RESET enable_hashjoin; RESET enable_mergejoin; RESET plan_cache_mode; RESET jit; RESET idle_in_transaction_session_timeout';
const UNLOCK = 'SELECT pg_advisory_unlock_all()';

/** Connections of an import. The first holds the lock of its source, and one is enough. */
export class StagingConnections {
  readonly first: StagingConnection;
  private second: PoolClient | null = null;
  private closed = false;

  constructor(
    private readonly pool: Pool,
    private readonly client: PoolClient,
    private readonly connectionOn: (client: PoolClient) => StagingConnection,
  ) {
    this.first = connectionOn(client);
  }

  async openSecond(): Promise<StagingConnection> {
    const opened = await this.pool.connect();
    try {
      await opened.query(OPEN_STAGING);
      if (this.closed) throw new Error('The import ended before its second connection was there.');
    } catch (error) {
      opened.release(true);
      throw error;
    }
    this.second = opened;
    return this.connectionOn(opened);
  }

  /** `beforeUnlock` runs after a failure, while nobody else may import the source. */
  async close(completed: boolean, beforeUnlock: () => Promise<void>): Promise<void> {
    this.closed = true;
    const { second, client } = this;
    // It has no lock to release, and a query would wait for ever behind a copy that was broken off.
    second?.release(!completed || !(await isReset(second)));
    if (completed && (await isReset(client))) {
      client.release();
      return;
    }
    // Closing the connection ends its session some time later. Release the lock now, if Postgres still responds, so that
    // an interrupted import can be repeated at once.
    await client
      .query('ROLLBACK')
      .then(beforeUnlock)
      .then(() => client.query(UNLOCK))
      .catch(() => undefined);
    client.release(true);
  }
}

/** After a completed import the loss of a connection does not matter. */
const isReset = (client: PoolClient): Promise<boolean> =>
  client.query(`${DEFAULTS}; ${UNLOCK}`).then(
    () => true,
    () => false,
  );

/** Signals that keep two concurrent batches in order. */
export interface BatchOrder {
  /** Settles when the previous batch ends. */
  readonly before: Promise<unknown>;
  /** Settles when the previous batch has taken its ids. */
  readonly numbered: Promise<unknown>;
  /** Call it when this batch has taken its ids. */
  sayNumbered(): void;
}

/**
 * The whole batch is repeated after a deadlock, a serialization failure, and when another transaction has deleted an
 * asset or a tag key that the batch refers to, or has taken an id.
 */
const PASSING = new Set(['40P01', '40001', '23503', '23505']);
export const isPassing = (error: unknown): boolean => PASSING.has(String((error as { code?: unknown }).code));
