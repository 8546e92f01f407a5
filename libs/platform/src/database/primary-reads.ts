import type { Pool, PoolClient } from 'pg';
import type { Acquisitions } from './acquisitions';
import { connectBefore } from './connect-before';
import { connectionWasLost } from './database-fault';
import { type BoundStatement, PipelinedStatements, type TextRow } from './pipelined-statements';

/** Less than this is not worth another try. */
export const SHORTEST_TRY_MS = 200;

/**
 * Reads of the primary. One whose connection is lost is asked once more, on a connection that was opened since: after a
 * restart or a failover every connection of the pool is lost, and some are not known to be.
 */
export class PrimaryReads {
  private readonly openedAt = new WeakMap<PoolClient, number>();

  constructor(
    private readonly pool: Pool,
    private readonly acquisitions: Acquisitions,
  ) {
    pool.on('connect', (client) => this.openedAt.set(client, performance.now()));
  }

  /** The rows of each statement. Takes until `deadline` (by `performance.now()`) and no longer, with both tries. */
  async run(statements: readonly BoundStatement[], deadline: number): Promise<TextRow[][]> {
    try {
      return await this.attempt(statements, deadline, -Infinity);
    } catch (error) {
      const now = performance.now();
      if (!connectionWasLost(error) || deadline - now < SHORTEST_TRY_MS) throw error;
      return this.attempt(statements, deadline, now);
    }
  }

  private attempt(statements: readonly BoundStatement[], deadline: number, since: number): Promise<TextRow[][]> {
    const connections = { connect: () => this.connect(deadline, since) };
    return this.acquisitions.counted(() => PipelinedStatements.runOn(connections, statements, deadline));
  }

  private async connect(deadline: number, since: number): Promise<PoolClient> {
    for (;;) {
      const client = await connectBefore(this.pool, deadline);
      if ((this.openedAt.get(client) ?? -Infinity) >= since) return client;
      client.release(true);
    }
  }
}
