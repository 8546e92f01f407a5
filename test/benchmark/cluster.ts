import { mkdtempSync } from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { readPostmasterFile } from '../../libs/local-postgres/src/cluster/postmaster-file';
import { startTemporaryPostgres } from '../support/temporary-postgres';
import { startTemporaryRedis } from '../support/temporary-redis';
import { cpuOfProcesses, cpuOfRedis } from './accounting';
import { BenchmarkDatabase } from './benchmark-database';
import { MeasuredProcess } from './measured-process';

/** As in production: an answer is sent when the change is on the disk, and a quarter of the memory is for buffers. */
const SETTINGS = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  shared_buffers: `${Math.floor(totalmem() / 4 / 2 ** 20)}MB`,
  max_wal_size: '8GB',
};

/** Milliseconds of CPU so far; not a number where the system keeps no account that can be read. */
export interface ServiceTimes {
  readonly postgres: number;
  readonly redis: number;
}

/** A Postgres and a Redis of the benchmarks' own. */
export class Cluster {
  private readonly databases: BenchmarkDatabase[] = [];
  private shared: Promise<BenchmarkDatabase> | null = null;

  private constructor(
    readonly redisUrl: string,
    /** Where the keys are. */
    readonly localDir: string,
    private readonly redis: Redis,
    private readonly postmaster: number,
    private readonly say: (line: string) => void,
  ) {}

  /** Gone when `work` is done, with all that it made. */
  static async during<Result>(
    say: (line: string) => void,
    work: (cluster: Cluster) => Promise<Result>,
  ): Promise<Result> {
    // One that is borrowed would count what others make it do, and hold what others keep there.
    delete process.env['REDIS_URL'];
    const postgres = await startTemporaryPostgres({ postgresSettings: SETTINGS });
    const temporaryRedis = await startTemporaryRedis();
    const redis = new Redis(temporaryRedis.url);
    const cluster = new Cluster(
      temporaryRedis.url,
      mkdtempSync(join(tmpdir(), 'api-')),
      redis,
      readPostmasterFile(postgres.dataDir)?.pid ?? Number.NaN,
      say,
    );
    try {
      process.env['TEST_SUPERUSER_URL'] = postgres.superuserUrl;
      process.env['TEST_MIGRATION_DATABASE_URL'] = postgres.migrationDatabaseUrl;
      process.env['TEST_DATABASE_URL'] = postgres.databaseUrl;
      return await work(cluster);
    } finally {
      await MeasuredProcess.stopAll();
      for (const database of cluster.databases) await database.close().catch(() => undefined);
      redis.disconnect();
      await temporaryRedis.stop();
      await postgres.stop();
    }
  }

  /** One that nobody else has; {@link BenchmarkDatabase.drop} frees its disk early. */
  async aDatabase(): Promise<BenchmarkDatabase> {
    const database = await BenchmarkDatabase.create(this.say);
    this.databases.push(database);
    return database;
  }

  /** The one whose inventories are large, and of which at most a row changes. */
  inventory(): Promise<BenchmarkDatabase> {
    this.shared ??= this.aDatabase();
    return this.shared;
  }

  async cpuMilliseconds(): Promise<ServiceTimes> {
    return { postgres: cpuOfProcesses(this.postmaster), redis: await cpuOfRedis(this.redis) };
  }

  /** Redis knows nothing any more but scripts. */
  async emptyRedis(): Promise<void> {
    await this.redis.flushall();
  }

  /** Commands that clients sent while `work` ran, without what scripts did. */
  async commandsDuring(work: () => Promise<unknown>): Promise<number> {
    const monitor = await this.redis.monitor();
    let count = 0;
    monitor.on('monitor', (_time: string, [command]: string[], source: string) => {
      if (source !== 'lua' && command?.toLowerCase() !== 'ping') count += 1;
    });
    await work();
    // The monitor hears of a command a moment after its answer.
    await this.redis.ping();
    await new Promise((resolve) => setTimeout(resolve, 20));
    monitor.disconnect();
    return count;
  }
}
