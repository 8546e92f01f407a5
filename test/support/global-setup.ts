import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProcessCleanup } from './cleanup.cjs';
import { writeModulePack } from './module-pack/module-pack';
import { isRedisThere } from './programs.cjs';
import { startTemporaryPostgres } from './temporary-postgres';
import { startTemporaryRedis } from './temporary-redis';
import { type TemporaryRedis } from './temporary-redis.port';

/** Runs in jest's own process. global-teardown.ts finds the services on the global object. */
export type ServicesOfTheRun = typeof globalThis & { cleanup?: ProcessCleanup; temporaryRedis?: TemporaryRedis };

/**
 * Starts one Postgres for the whole run and, if possible, one Redis. Workers learn the addresses from the environment.
 * The services' temporary files are separate from those of this process.
 */
export default async function startServices(): Promise<void> {
  const { TMPDIR } = process.env;
  const services = globalThis as ServicesOfTheRun;
  services.cleanup = new ProcessCleanup();
  const postgres = await startTemporaryPostgres({ forTheRun: true });
  process.env['TEST_SUPERUSER_URL'] = postgres.superuserUrl;
  process.env['TEST_MIGRATION_DATABASE_URL'] = postgres.migrationDatabaseUrl;
  process.env['TEST_DATABASE_URL'] = postgres.databaseUrl;
  process.env['TEST_CONSOLE_DATABASE_URL'] = postgres.consoleDatabaseUrl;
  process.env['TEST_LOCAL_DIR'] = mkdtempSync(join(tmpdir(), 'api-'));
  const modulePack = join(process.env['TEST_LOCAL_DIR'], 'modules');
  // A run that a test starts keeps the pack of the outer run: a build takes long.
  if (process.env['TEST_MODULE_PACK'] === undefined && writeModulePack(modulePack)) {
    process.env['TEST_MODULE_PACK'] = modulePack;
  }
  // Must be the last step that can fail. jest runs no teardown after a failure, and a borrowed Redis would stay
  // reserved.
  if (isRedisThere()) {
    services.temporaryRedis = await startTemporaryRedis();
    process.env['TEST_REDIS_URL'] = services.temporaryRedis.url;
  }
  if (TMPDIR === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = TMPDIR;
}
