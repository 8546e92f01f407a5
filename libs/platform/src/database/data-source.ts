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

const REQUEST_SESSION = {
  statement_timeout: 5_000,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 10_000,
  query_timeout: 5_500,
  // Every statement of a request has an index and one plan that is right for every value; planning each time would cost
  // more than running it, and a plan made while a table was small must not go on reading it whole when it is not.
  options: '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off',
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
    extra: { keepAlive: true, ...(connection.patience === 'request' ? REQUEST_SESSION : {}) },
  };
}

/** The pool of node-postgres under TypeORM: hot reads use it directly, with prepared statements. */
export function poolOf(dataSource: DataSource): Pool {
  return (dataSource.driver as unknown as { master: Pool }).master;
}
