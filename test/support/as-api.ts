import { DataSource } from 'typeorm';
import { Database } from '#libs/platform/database';
import { dataSourceOptions } from '../../libs/platform/src/database/connections/data-source';
import type { TestApp } from './start-app';

/** Works on the database with the rights of the API. */
export async function asApi<Result>(app: TestApp, work: (database: Database) => Promise<Result>): Promise<Result> {
  const options = { url: app.database.databaseUrl, poolSize: 1, patience: 'operator', entities: [] } as const;
  const dataSource = await new DataSource(dataSourceOptions(options, () => undefined)).initialize();
  try {
    return await work(new Database(dataSource));
  } finally {
    await dataSource.destroy();
  }
}
