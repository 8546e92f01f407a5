import type { Pool, PoolClient } from 'pg';
import { connectionTimedOut, connectionWasLost } from './database-fault';
import { receiveInTurn } from './large-results';
import { type BoundStatement, PipelinedStatements, type TextRow } from '../pipelined-statements';

/** A retry needs at least this much time. */
export const SHORTEST_TRY_MS = 200;
/** Connections of a larger pool that units of work leave to reads. A unit may wait for a lock; a read never does. */
const LEFT_TO_READS = 2;

/** Connections, requests waiting for one, and waits that timed out since the instance started. */
export interface PoolUse {
  readonly size: number;
  readonly inUse: number;
  readonly idle: number;
  readonly waiting: number;
  readonly timeouts: number;
}

/** A semaphore: limits the number of holders, and later callers wait in line. */
class Permits {
  private free: number;
  private readonly line: (() => void)[] = [];

  constructor(count: number) {
    this.free = count;
  }

  get waiting(): number {
    return this.line.length;
  }

  /** @throws the pool's timeout error when no permit is free in time */
  async acquire(patienceMs: number): Promise<void> {
    if (this.free > 0) {
      this.free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const admit = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.line.splice(this.line.indexOf(admit), 1);
        reject(new Error('timeout exceeded when trying to connect'));
      }, patienceMs);
      this.line.push(admit);
    });
  }

  release(): void {
    const next = this.line.shift();
    if (next) next();
    else this.free += 1;
  }
}

/**
 * A node-postgres pool that hands out a connection by a deadline or fails. Deadlines are times of `performance.now()`.
 */
export class ConnectionPool {
  private timeouts = 0;
  private readonly openedAt = new WeakMap<PoolClient, number>();
  private readonly permits: Permits;
  /** One unit of work with large rows runs at a time. */
  readonly largeUnits = new Permits(1);

  constructor(private readonly pool: Pool) {
    this.permits = new Permits(Math.max(1, pool.options.max - LEFT_TO_READS));
    pool.on('connect', (client) => this.openedAt.set(client, performance.now()));
    outliveLosses(pool);
  }

  get use(): PoolUse {
    const { totalCount, idleCount, waitingCount, options } = this.pool;
    const waiting = waitingCount + this.permits.waiting;
    return { size: options.max, inUse: totalCount - idleCount, idle: idleCount, waiting, timeouts: this.timeouts };
  }

  /** Runs the statements as one transaction and returns the rows of each. */
  async run(statements: readonly BoundStatement[], deadline = Infinity): Promise<TextRow[][]> {
    return this.runOn(await this.connect(deadline), statements, deadline);
  }

  /**
   * Like {@link run}, for statements that only read. Retries once on a new connection when the connection is lost: a
   * restart or failover breaks every connection in the pool, some of them unnoticed.
   */
  async read(statements: readonly BoundStatement[], deadline: number): Promise<TextRow[][]> {
    try {
      return await this.run(statements, deadline);
    } catch (error) {
      const now = performance.now();
      if (!connectionWasLost(error) || deadline - now < SHORTEST_TRY_MS) throw error;
      return this.runOn(await this.connectSince(now, deadline), statements, deadline);
    }
  }

  /** Takes a connection for a unit of work that is not older than `since`. {@link releaseUnit} gives it back. */
  async connectUnit(permitDeadline: number, deadline: number, since: number): Promise<PoolClient> {
    await this.counted(() => this.permits.acquire(permitDeadline - performance.now()));
    return this.connectSince(since, deadline).catch((error: unknown) => {
      this.permits.release();
      throw error;
    });
  }

  /** Closes the connection if it is spoilt. */
  releaseUnit(client: PoolClient, spoilt: boolean): void {
    client.release(spoilt);
    this.permits.release();
  }

  /** Runs `work` and counts it when it got no connection in time. */
  async counted<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (connectionTimedOut(error)) this.timeouts += 1;
      throw error;
    }
  }

  async end(): Promise<void> {
    await this.pool.end();
  }

  private async runOn(client: PoolClient, statements: readonly BoundStatement[], deadline: number) {
    const endTurn = receiveInTurn(client);
    try {
      const rows = await PipelinedStatements.run(client, statements, deadline);
      client.release();
      return rows;
    } catch (error) {
      client.release(true);
      throw error;
    } finally {
      endTurn();
    }
  }

  private async connectSince(moment: number, deadline: number): Promise<PoolClient> {
    for (;;) {
      const client = await this.connect(deadline);
      if ((this.openedAt.get(client) ?? -Infinity) >= moment) return client;
      client.release(true);
    }
  }

  /** Takes a connection by the deadline. @throws the pool's own error when there is none */
  private connect(deadline: number): Promise<PoolClient> {
    const connected = this.pool.connect();
    const leftMs = deadline - performance.now();
    if (leftMs >= (this.pool.options.connectionTimeoutMillis || Infinity)) return this.counted(() => connected);
    const inTime = new Promise<PoolClient>((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error('timeout exceeded when trying to connect'));
        connected.then(
          (client) => client.release(),
          () => undefined,
        );
      }, leftMs);
      connected.then(resolve, reject).finally(() => clearTimeout(timer));
    });
    return this.counted(() => inTime);
  }
}

const ignore = (): void => undefined;

/** Ignores the error event of a lost connection, which would end the process. The next query reports the loss. */
function outliveLosses(pool: Pool): void {
  // On every acquire, because the pool may have opened its first connection earlier.
  pool.on('acquire', (client) => {
    if (!client.listeners('error').includes(ignore)) client.on('error', ignore);
  });
}
