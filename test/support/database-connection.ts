import { dataSourceOptions } from '#libs/platform/database';
import { DataSource } from 'typeorm';
import { entities } from '../../apps/whole-schema';
import type { TestDatabase } from './test-database';

/** Connects as requests of the API do, or as operators' commands. */
export async function openDataSource(
  url: string,
  poolSize = 1,
  patience: 'request' | 'operator' = 'request',
): Promise<DataSource> {
  return new DataSource(dataSourceOptions({ url, poolSize, patience, entities }, () => undefined)).initialize();
}

/** Connects as operators' commands do, by the role that owns the database. */
export const operatorDataSource = (
  { migrationDatabaseUrl }: Pick<TestDatabase, 'migrationDatabaseUrl'>,
  poolSize = 1,
): Promise<DataSource> => openDataSource(migrationDatabaseUrl, poolSize, 'operator');
