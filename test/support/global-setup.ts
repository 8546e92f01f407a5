import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTemporaryPostgres, type TemporaryPostgres } from './temporary-postgres';

/** Runs in jest's own process, where global-teardown.ts finds what this leaves on the global object. */
export type ServicesOfTheRun = typeof globalThis & { temporaryPostgres?: TemporaryPostgres };

/** One Postgres for the whole run; the workers learn its addresses from the environment. */
export default async function startServices(): Promise<void> {
  const postgres = await startTemporaryPostgres();
  try {
    process.env['TEST_SUPERUSER_URL'] = postgres.superuserUrl;
    process.env['TEST_MIGRATION_DATABASE_URL'] = postgres.migrationDatabaseUrl;
    process.env['TEST_DATABASE_URL'] = postgres.databaseUrl;
    process.env['TEST_LOCAL_DIR'] = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    (globalThis as ServicesOfTheRun).temporaryPostgres = postgres;
  } catch (error) {
    // jest runs no teardown when the set-up fails.
    await postgres.stop();
    throw error;
  }
}
