import type { Pool } from 'pg';
import { Acquisitions, type PoolUse } from './acquisitions';
import { connectBefore } from './connect-before';
import { replicaPool } from './data-source';
import { type BoundStatement, PipelinedStatements, type TextRow, sendUnprepared } from './pipelined-statements';
import type { PrimaryPositions } from './primary-positions';

/** A replica that is further behind is not used, whoever reads. */
export const MAX_LAG_MS = 10_000;
/** What is not answered by then the primary is asked, which needs time too. */
const PATIENCE_MS = 1_500;
/** After a failed read it is left alone for so long. */
const REST_MS = 5_000;
/** A standby of a former primary has applied within this time all that it will ever get. */
const SETTLING_MS = 10_000;

const POSITION: BoundStatement = {
  name: 'replica_position_2',
  text: `SELECT pg_is_in_recovery(), pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::text,
                (SELECT system_identifier::text FROM pg_control_system())`,
  values: [],
};

export interface ReplicaUse extends PoolUse {
  /** Whether reads go there: it answers, follows the primary and is not too far behind. */
  readonly isUsed: boolean;
}

export interface ReplicaWatcher {
  used(): void;
  unused(reason: string): void;
}

/**
 * One standby: how much of what the primary committed it is known to show. It is used once it was seen to follow, that is
 * to move on, so that neither one that lost its primary nor one that stayed behind at a failover ever is.
 */
export class Replica {
  private readonly pool: Pool;
  private readonly acquisitions: Acquisitions;
  /** Of its own, so that reads that fill the pool do not make it look lost. */
  private readonly watch: Pool;
  private completeUpTo = -Infinity;
  private replayed: bigint | null = null;
  private follows = false;
  private distrustedUntil = -Infinity;
  private restsUntil = -Infinity;
  private inUse = false;
  private said: 'nothing yet' | 'used' | 'unused' = 'nothing yet';

  constructor(
    url: string,
    poolSize: number,
    preparedStatements: boolean,
    private readonly watcher: ReplicaWatcher,
  ) {
    this.pool = replicaPool(url, poolSize, () => undefined);
    this.acquisitions = new Acquisitions(this.pool);
    this.watch = replicaPool(url, 1, () => undefined);
    if (!preparedStatements) [this.pool, this.watch].forEach(sendUnprepared);
  }

  /** Whether all that was committed before this moment can be read here. */
  shows(moment: number): boolean {
    return this.inUse && this.completeUpTo >= moment && performance.now() - this.completeUpTo <= MAX_LAG_MS;
  }

  get isUsed(): boolean {
    return this.inUse;
  }

  get use(): ReplicaUse {
    return { ...this.acquisitions.use, isUsed: this.inUse };
  }

  /** Throws whatever went wrong; then it is not used for a while. */
  async run(statements: readonly BoundStatement[]): Promise<TextRow[][]> {
    const soon = performance.now() + PATIENCE_MS;
    const connections = { connect: () => connectBefore(this.pool, soon) };
    try {
      return await this.acquisitions.counted(() => PipelinedStatements.runOn(connections, statements, soon));
    } catch (error) {
      this.restsUntil = performance.now() + REST_MS;
      this.leave(reasonOf(error));
      throw error;
    }
  }

  /** Looks where it is. Never rejects. */
  async look(positions: PrimaryPositions): Promise<void> {
    try {
      const { replayed, cluster } = await this.position();
      // The log of another server has places too; they would compare, and say nothing.
      if (positions.cluster !== null && cluster !== positions.cluster) throw new NoStandby('of another server');
      const now = performance.now();
      if (now >= this.distrustedUntil) {
        if (this.replayed !== null && replayed > this.replayed) this.follows = true;
        this.replayed = replayed;
      }
      this.completeUpTo = positions.momentOf(replayed);
      if (!this.follows) this.inUse = false;
      else if (now - this.completeUpTo > MAX_LAG_MS) this.leave(`it is more than ${MAX_LAG_MS / 1_000} s behind`);
      else if (now >= this.restsUntil) this.enter();
    } catch (error) {
      this.leave(reasonOf(error));
    }
  }

  /** Another server is the primary now: until it is seen to follow that one, it may be of the former one's history. */
  distrust(): void {
    this.distrustedUntil = performance.now() + SETTLING_MS;
    this.follows = false;
    this.replayed = null;
    this.leave('another server is the primary now');
  }

  /** Whether it has replayed the log up to this place. */
  async hasReplayed(position: bigint): Promise<boolean> {
    return (await this.position()).replayed >= position;
  }

  async close(): Promise<void> {
    await Promise.all([this.pool.end(), this.watch.end()]);
  }

  private async position(): Promise<{ readonly replayed: bigint; readonly cluster: string | null }> {
    const [rows] = await PipelinedStatements.runOn(this.watch, [POSITION]);
    const [inRecovery, replayed, cluster = null] = rows?.[0] ?? [];
    if (inRecovery !== 't' || replayed == null) throw new NoStandby('no standby');
    return { replayed: BigInt(replayed), cluster };
  }

  private enter(): void {
    this.inUse = true;
    if (this.said !== 'used') this.watcher.used();
    this.said = 'used';
  }

  private leave(reason: string): void {
    this.inUse = false;
    if (this.said !== 'unused') this.watcher.unused(reason);
    this.said = 'unused';
  }
}

class NoStandby extends Error {
  constructor(what: 'no standby' | 'of another server') {
    super(`it is ${what}`);
  }
}

/** For the log: without addresses. */
function reasonOf(error: unknown): string {
  if (error instanceof NoStandby) return error.message;
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  if (code === '40001') return 'a read was cancelled by what it had to replay';
  return typeof code === 'string' ? code : String(message);
}
