import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeModulePack } from './module-pack/module-pack';
import { startTemporaryPostgres, type TemporaryPostgres } from './temporary-postgres';
import { isRedisThere } from './programs.cjs';
import { startTemporaryRedis } from './temporary-redis';
import { type TemporaryRedis } from './temporary-redis.port';

/** Runs in jest's own process, where global-teardown.ts finds what this leaves on the global object. */
export type ServicesOfTheRun = typeof globalThis & {
  temporaryPostgres?: TemporaryPostgres;
  temporaryRedis?: TemporaryRedis;
};

/** Starts one Postgres for the whole run, and one Redis where there is one. The workers learn their addresses from the environment. */
export default async function startServices(): Promise<void> {
  const services = globalThis as ServicesOfTheRun;
  try {
    // One after the other: of two that start at once and of which one fails, the other would be left behind.
    if (isRedisThere()) services.temporaryRedis = await startTemporaryRedis();
    const postgres = await startTemporaryPostgres();
    services.temporaryPostgres = postgres;
    if (services.temporaryRedis) process.env['TEST_REDIS_URL'] = services.temporaryRedis.url;
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
