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

/** As in production: commits are on disk before the response, and a quarter of the memory is for buffers. */
const SETTINGS = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  shared_buffers: `${Math.floor(totalmem() / 4 / 2 ** 20)}MB`,
  max_wal_size: '8GB',
};

/** CPU milliseconds so far. NaN when the system does not report them. */
export interface ServiceTimes {
  readonly postgres: number;
  readonly redis: number;
}

/** A Postgres and a Redis for the benchmarks only. */
export class Cluster {
  private readonly databases: BenchmarkDatabase[] = [];
  private shared: Promise<BenchmarkDatabase> | null = null;

  private constructor(
    readonly redisUrl: string,
    /** The directory of the keys. */
    readonly localDir: string,
    private readonly redis: Redis,
    private readonly postmaster: number,
    private readonly say: (line: string) => void,
  ) {}

  /** Runs `work` with a cluster and removes everything afterwards. */
  static async during<Result>(
    say: (line: string) => void,
    work: (cluster: Cluster) => Promise<Result>,
  ): Promise<Result> {
    // A borrowed Redis would also count other programs' commands and hold their data.
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
      process.env['TEST_CONSOLE_DATABASE_URL'] = postgres.consoleDatabaseUrl;
      // Imports record under the audit key of the API, which seals what they recorded.
      process.env['TEST_LOCAL_DIR'] = cluster.localDir;
      return await work(cluster);
    } finally {
      await MeasuredProcess.stopAll();
      for (const database of cluster.databases) await database.close().catch(() => undefined);
      redis.disconnect();
      await temporaryRedis.stop();
      await postgres.stop();
    }
  }

  /** Creates a database for one benchmark. {@link BenchmarkDatabase.drop} frees its disk space early. */
  async aDatabase(): Promise<BenchmarkDatabase> {
    const database = await BenchmarkDatabase.create(this.say);
    this.databases.push(database);
    return database;
  }

  /** Returns the shared database with large inventories, in which benchmarks change single rows at most. */
  inventory(): Promise<BenchmarkDatabase> {
    this.shared ??= this.aDatabase();
    return this.shared;
  }

  async cpuMilliseconds(): Promise<ServiceTimes> {
    return { postgres: cpuOfProcesses(this.postmaster), redis: await cpuOfRedis(this.redis) };
  }

  /** Counts commands that clients sent while `work` ran, without those inside scripts. */
  async commandsDuring(work: () => Promise<unknown>): Promise<number> {
    const monitor = await this.redis.monitor();
    let count = 0;
    monitor.on('monitor', (_time: string, [command]: string[], source: string) => {
      if (source !== 'lua' && command?.toLowerCase() !== 'ping') count += 1;
    });
    await work();
    // The monitor sees a command a moment after its reply.
    await this.redis.ping();
    await new Promise((resolve) => setTimeout(resolve, 20));
    monitor.disconnect();
    return count;
  }
}
