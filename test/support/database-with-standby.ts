import { migrate } from '#libs/platform/database';
import { StandbyPostgres } from './standby-postgres';
import { type TemporaryPostgres, startTemporaryPostgres } from './temporary-postgres';
import { type TestDatabase, superuserPool, testSchema } from './test-database';

/** A test's own primary with a streaming standby. */
export interface DatabaseWithStandby extends TestDatabase {
  readonly primary: TemporaryPostgres;
  readonly standby: StandbyPostgres;
  /** For DATABASE_REPLICA_URLS. */
  readonly standbyUrl: string;
}

export async function createDatabaseWithStandby(): Promise<DatabaseWithStandby> {
  const primary = await startTemporaryPostgres();
  try {
    const { databaseUrl, migrationDatabaseUrl, consoleDatabaseUrl } = primary;
    await migrate({ databaseUrl, migrationDatabaseUrl, schema: testSchema });
    const standby = await StandbyPostgres.of(primary, 'standby');
    await standby.caughtUp(primary);
    const superuserUrl = new URL(primary.superuserUrl);
    superuserUrl.pathname = new URL(databaseUrl).pathname;
    const admin = superuserPool(superuserUrl.toString());
    const drop = async (): Promise<void> => {
      await admin.end().catch(() => undefined);
      await standby.stop();
      await primary.stop();
    };
    const standbyUrl = standby.url(databaseUrl);
    return { databaseUrl, migrationDatabaseUrl, consoleDatabaseUrl, admin, primary, standby, standbyUrl, drop };
  } catch (error) {
    await primary.stop();
    throw error;
  }
}
