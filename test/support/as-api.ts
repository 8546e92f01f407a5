import { Database } from '#libs/platform/database';
import { openDataSource } from './database-connection';
import type { TestApp } from './start-app';

/** Works on the database with the rights of the API. */
export async function asApi<Result>(app: TestApp, work: (database: Database) => Promise<Result>): Promise<Result> {
  const dataSource = await openDataSource(app.database.databaseUrl, 1, 'operator');
  try {
    return await work(new Database(dataSource));
  } finally {
    await dataSource.destroy();
  }
}
