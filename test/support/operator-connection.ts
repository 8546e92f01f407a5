import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../libs/platform/src/database/connections/data-source';
import { type TestDatabase, testEntities as entities } from './test-database';

/** Connects as operators' commands do, by the role that owns the database. */
export async function operatorDataSource(
  { migrationDatabaseUrl: url }: Pick<TestDatabase, 'migrationDatabaseUrl'>,
  poolSize = 1,
): Promise<DataSource> {
  const connection = { url, poolSize, patience: 'operator', entities } as const;
  return new DataSource(dataSourceOptions(connection, () => undefined)).initialize();
}
