import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTemporaryPostgres } from '../support/temporary-postgres';
import { startTemporaryRedis } from '../support/temporary-redis';
import { type TestDatabase, createTestDatabase } from '../support/test-database';

export interface BenchmarkServices {
  readonly database: TestDatabase;
  readonly redisUrl: string;
  /** Where the keys are. */
  readonly localDir: string;
}

/** As in production: an answer is sent when the change is on the disk. */
const DURABLE = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', shared_buffers: '512MB' };

/** A Postgres and a Redis of the benchmark's own, gone when it is done. */
export async function withBenchmarkServices<Result>(
  work: (services: BenchmarkServices) => Promise<Result>,
): Promise<Result> {
  const postgres = await startTemporaryPostgres({ postgresSettings: DURABLE });
  const localDir = mkdtempSync(join(tmpdir(), 'compliance-api-benchmark-'));
  const redis = await startTemporaryRedis();
  try {
    process.env['TEST_SUPERUSER_URL'] = postgres.superuserUrl;
    process.env['TEST_MIGRATION_DATABASE_URL'] = postgres.migrationDatabaseUrl;
    process.env['TEST_DATABASE_URL'] = postgres.databaseUrl;
    const database = await createTestDatabase();
    const result = await work({ database, redisUrl: redis.url, localDir });
    await database.drop();
    return result;
  } finally {
    await redis.stop();
    await postgres.stop();
    rmSync(localDir, { recursive: true, force: true });
  }
}
