import type { Pool } from 'pg';
import { CREATE_TABLES } from './batch-statements';
import type { StagingConnection } from './staging-connection';

/**
 * Joins use indexes row by row, because a batch is small compared with an inventory. Plans are generic: while a
 * workspace is being filled, statistics would claim that it has a single row.
 */
const PLAN =
  'SET enable_hashjoin = off; SET enable_mergejoin = off; SET plan_cache_mode = force_generic_plan; SET jit = off';
export const OPEN_STAGING = `${PLAN}; ${CREATE_TABLES}`;
const UNLOCK = 'SELECT pg_advisory_unlock_all()';

/**
 * Connections of an import, which end with it, as do its settings and tables. The first holds the lock of its source, and one
 * is enough.
 */
export class StagingConnections {
  /** Null until {@link openSecond} has opened it. */
  second: StagingConnection | null = null;
  private closed = false;

  constructor(
    private readonly pool: Pool,
    readonly first: StagingConnection,
  ) {}

  async openSecond(): Promise<void> {
    const opened = await this.pool.connect();
    try {
      await opened.query(OPEN_STAGING);
      if (this.closed) throw new Error('The import ended before its second connection was there.');
    } catch (error) {
      opened.release(true);
      throw error;
    }
    this.second = this.first.beside(opened);
  }

  async close(): Promise<void> {
    this.closed = true;
    // It has no lock to release, and a query would wait for ever behind a copy that was broken off.
    this.second?.client.release(true);
    const { client } = this.first;
    // Closing the connection ends its session some time later. Release the lock now, if Postgres still responds, so that
    // the source can be imported again at once.
    await client.query(UNLOCK).catch(() => undefined);
    client.release(true);
  }
}

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
