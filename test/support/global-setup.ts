import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeModulePack } from './module-pack/module-pack';
import { startTemporaryPostgres, type TemporaryPostgres } from './temporary-postgres';
import { startTemporaryRedis } from './temporary-redis';
import { type TemporaryRedis } from './temporary-redis.port';

/** Runs in jest's own process, where global-teardown.ts finds what this leaves on the global object. */
export type ServicesOfTheRun = typeof globalThis & {
  temporaryPostgres?: TemporaryPostgres;
  temporaryRedis?: TemporaryRedis;
};

/** One Postgres and one Redis for the whole run; the workers learn their addresses from the environment. */
export default async function startServices(): Promise<void> {
  const services = globalThis as ServicesOfTheRun;
  try {
    // One after the other: of two that start at once and of which one fails, the other would be left behind.
    const redis = await startTemporaryRedis();
    services.temporaryRedis = redis;
    const postgres = await startTemporaryPostgres();
    services.temporaryPostgres = postgres;
    process.env['TEST_REDIS_URL'] = redis.url;
    process.env['TEST_SUPERUSER_URL'] = postgres.superuserUrl;
    process.env['TEST_MIGRATION_DATABASE_URL'] = postgres.migrationDatabaseUrl;
    process.env['TEST_DATABASE_URL'] = postgres.databaseUrl;
    process.env['TEST_LOCAL_DIR'] = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    const modulePack = join(process.env['TEST_LOCAL_DIR'], 'modules');
    if (writeModulePack(modulePack)) process.env['TEST_MODULE_PACK'] = modulePack;
  } catch (error) {
    // jest runs no teardown when the set-up fails.
    await services.temporaryRedis?.stop();
    await services.temporaryPostgres?.stop();
    throw error;
  }
}
