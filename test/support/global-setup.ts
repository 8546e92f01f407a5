import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProcessCleanup } from './cleanup.cjs';
import { writeModulePack } from './module-pack/module-pack';
import { isRedisThere } from './programs.cjs';
import { startTemporaryPostgres } from './temporary-postgres';
import { startTemporaryRedis } from './temporary-redis';
import { type TemporaryRedis } from './temporary-redis.port';

/** Runs in jest's own process, where global-teardown.ts finds what this leaves on the global object. */
export type ServicesOfTheRun = typeof globalThis & { cleanup?: ProcessCleanup; temporaryRedis?: TemporaryRedis };

/**
 * Starts one Postgres for the whole run, and one Redis where there is one. The workers learn their addresses from the
 * environment. Their temporary files are not among those of this process.
 */
export default async function startServices(): Promise<void> {
  const { TMPDIR } = process.env;
  const services = globalThis as ServicesOfTheRun;
  services.cleanup = new ProcessCleanup();
  const postgres = await startTemporaryPostgres();
  process.env['TEST_SUPERUSER_URL'] = postgres.superuserUrl;
  process.env['TEST_MIGRATION_DATABASE_URL'] = postgres.migrationDatabaseUrl;
  process.env['TEST_DATABASE_URL'] = postgres.databaseUrl;
  process.env['TEST_LOCAL_DIR'] = mkdtempSync(join(tmpdir(), 'api-'));
  const modulePack = join(process.env['TEST_LOCAL_DIR'], 'modules');
  if (writeModulePack(modulePack)) process.env['TEST_MODULE_PACK'] = modulePack;
  // The last step that may fail: after a failure jest runs no teardown, and a borrowed Redis would stay taken.
  if (isRedisThere()) {
    services.temporaryRedis = await startTemporaryRedis();
    process.env['TEST_REDIS_URL'] = services.temporaryRedis.url;
  }
  if (TMPDIR === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = TMPDIR;
}
