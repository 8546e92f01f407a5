import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Pool } from 'pg';
import { RepeatedWork } from '../../background/repeated-work';
import { ConnectionPool } from './connection-pool';
import { bind, prepared } from '../pipelined-statements';
import { MAX_LAG_MS, type PrimaryState, Standby, type StandbyEvent, type StandbyUse } from './standby';

const PAUSE_MS = 1_000;

const PRIMARY_STATE = bind(
  prepared(
    'primary_state',
    `
    SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::text,
           system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
      FROM pg_control_system()`,
  ),
  [],
);

/**
 * The standbys of the primary. About once a second each instance notes the end of the primary's write-ahead log and compares
 * each standby with these notes. A standby that has applied the log up to a note is at least as new as that note. So no
 * clocks are compared, and a standby of an idle primary does not seem to lag.
 */
export class Standbys extends RepeatedWork implements OnApplicationShutdown {
  private readonly primary: ConnectionPool;
  private readonly standbys: readonly Standby[];
  private recent: readonly PrimaryState[] = [];
  private turn = 0;

  constructor(
    primary: Pool,
    urls: readonly string[],
    poolSize: number,
    preparedStatements = true,
    log = (event: StandbyEvent): void => new Logger('Database').warn(event),
  ) {
    super(PAUSE_MS, 'standbys could not be compared');
    this.primary = new ConnectionPool(primary);
    this.standbys = urls.map(
      (url, place) => new Standby(`replica_${place + 1}`, url, poolSize, preparedStatements, log),
    );
  }

  /** In the order of their addresses. */
  get uses(): StandbyUse[] {
    return this.standbys.map(({ use }) => use);
  }

  /** Returns the next usable standby in turn, or null. */
  choose(): Standby | null {
    this.turn += 1;
    const inUse = this.standbys.filter(({ isUsed }) => isUsed);
    return inUse[this.turn % inUse.length] ?? null;
  }

  override async onApplicationBootstrap(): Promise<void> {
    await this.compare();
    await super.onApplicationBootstrap();
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.standbys.map((standby) => standby.close()));
  }

  /**
   * Compares each standby with the primary. Learns nothing new while the primary is away, so every standby soon goes
   * out of use, and returns false.
   */
  async compare(): Promise<boolean> {
    const newest = await this.primaryState().catch((error: unknown) => {
      for (const standby of this.standbys) standby.lacksPrimary(error);
      return null;
    });
    if (!newest) return false;
    const isComparable = ({ at, history }: PrimaryState): boolean =>
      history === newest.history && newest.at - at <= MAX_LAG_MS;
    this.recent = [...this.recent.filter(isComparable), newest];
    await Promise.all(this.standbys.map((standby) => standby.compareWith(this.recent)));
    return true;
  }

  protected round(): Promise<boolean> {
    return this.compare();
  }

  private async primaryState(): Promise<PrimaryState> {
    const at = performance.now();
    const [rows] = await this.primary.run([PRIMARY_STATE]);
    const [position, history] = rows?.[0] ?? [];
    return { at, position: BigInt(position ?? 0), history: history ?? '' };
  }
}
