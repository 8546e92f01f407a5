import type { DataSource, DataSourceOptions } from 'typeorm';
import type { Pool } from 'pg';

export interface DatabaseConnection {
  readonly url: string;
  readonly poolSize: number;
  /**
   * `request`: nothing waits longer than five seconds (acquiring a connection two, a lock two, a statement five, and a
   * server that has gone silent is given up by the client's own clock). `operator`: long work such as an import may take
   * its time.
   */
  readonly patience: 'request' | 'operator';
}

const REQUEST_TIMEOUTS = {
  statement_timeout: 5_000,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 10_000,
  query_timeout: 5_500,
};

export function dataSourceOptions(
  connection: DatabaseConnection,
  onIdleError: (error: Error) => void,
): DataSourceOptions {
  return {
    type: 'postgres',
    url: connection.url,
    poolSize: connection.poolSize,
    connectTimeoutMS: connection.patience === 'request' ? 2_000 : 10_000,
    applicationName: connection.patience === 'request' ? 'compliance-api' : 'compliance-admin',
    uuidExtension: 'pgcrypto',
    installExtensions: false,
    invalidWhereValuesBehavior: { null: 'throw', undefined: 'throw' },
    poolErrorHandler: onIdleError,
    extra: { keepAlive: true, ...(connection.patience === 'request' ? REQUEST_TIMEOUTS : {}) },
  };
}

/** The pool of node-postgres under TypeORM: hot reads use it directly, with prepared statements. */
export function poolOf(dataSource: DataSource): Pool {
  return (dataSource.driver as unknown as { master: Pool }).master;
}
