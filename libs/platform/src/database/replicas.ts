import { setTimeout as delay } from 'node:timers/promises';
import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { type Freshness, NEWEST } from '#libs/kernel';
import type { Pool } from 'pg';
import { type BoundStatement, PipelinedStatements } from './pipelined-statements';
import { PrimaryPositions } from './primary-positions';
import { Replica, type ReplicaUse } from './replica';

const LOOK_EVERY_MS = 1_000;

/** Behind all that is committed: on disk it is, or where commits do not wait for that, in memory. */
const POSITION: BoundStatement = {
  name: 'primary_position_2',
  text: `
    SELECT pg_wal_lsn_diff(CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn()
                                ELSE pg_current_wal_flush_lsn() END, '0/0')::text,
           left(pg_walfile_name(pg_current_wal_lsn()), 8),
           (SELECT system_identifier::text FROM pg_control_system())`,
  values: [],
};

/**
 * The standbys of the primary, for reads that need not see everything at once. Once a second each process notes where the
 * primary's log has come to and where each replica is in it; from the two follows up to which moment a replica is
 * complete. All times are of this process' own clock.
 */
export class Replicas implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('Database');
  private readonly positions = new PrimaryPositions();
  private readonly replicas: readonly Replica[];
  private turn = 0;
  private timer: NodeJS.Timeout | null = null;
  private looking: Promise<void> | null = null;

  constructor(
    private readonly primary: Pool,
    urls: readonly string[],
    poolSize: number,
    preparedStatements = true,
  ) {
    this.replicas = urls.map((url, place) => {
      const name = `Replica ${place + 1} of DATABASE_REPLICA_URLS`;
      return new Replica(url, poolSize, preparedStatements, {
        used: () => this.logger.warn(`${name} is used.`),
        unused: (reason) => this.logger.warn(`${name} is not used: ${reason}`),
      });
    });
  }

  /** In the order of their addresses. */
  get uses(): ReplicaUse[] {
    return this.replicas.map(({ use }) => use);
  }

  /** A replica that shows all that was committed before this moment, each in its turn; null when there is none. */
  choose(freshness: Freshness): Replica | null {
    if (freshness === NEWEST) return null;
    for (let tried = 0; tried < this.replicas.length; tried += 1) {
      this.turn = (this.turn + 1) % this.replicas.length;
      const replica = this.replicas[this.turn];
      if (replica?.shows(freshness)) return replica;
    }
    return null;
  }

  /** Waits until every replica in use shows what is committed by now, but no longer than so. */
  async follow(patienceMs: number): Promise<void> {
    const deadline = performance.now() + patienceMs;
    const position = await this.primaryPosition().catch(() => null);
    if (position === null) return;
    const reached = async (replica: Replica): Promise<void> => {
      while (replica.isUsed && performance.now() < deadline) {
        if (await replica.hasReplayed(position.position).catch(() => false)) return;
        await delay(20);
      }
    };
    await Promise.all(this.replicas.map(reached));
  }

  async onModuleInit(): Promise<void> {
    await this.look();
    this.timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
    this.timer.unref();
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.timer) clearInterval(this.timer);
    await this.looking;
    await Promise.all(this.replicas.map((replica) => replica.close()));
  }

  /** One at a time: a slow answer delays the next question. */
  private async look(): Promise<void> {
    if (this.looking) return;
    this.looking = this.lookNow().finally(() => (this.looking = null));
    await this.looking;
  }

  private async lookNow(): Promise<void> {
    const sample = await this.primaryPosition().catch(() => null);
    if (sample && this.positions.add(sample)) this.replicas.forEach((replica) => replica.distrust());
    await Promise.all(this.replicas.map((replica) => replica.look(this.positions)));
  }

  private async primaryPosition() {
    const at = performance.now();
    const [rows] = await PipelinedStatements.runOn(this.primary, [POSITION]);
    const [position, timeline, cluster] = rows?.[0] ?? [];
    return { at, position: BigInt(position ?? 0), timeline: timeline ?? '', cluster: cluster ?? '' };
  }
}
