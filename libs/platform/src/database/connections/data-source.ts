import type { DataSource, DataSourceOptions } from 'typeorm';
import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { sendUnprepared } from '../pipelined-statements';

export interface DatabaseConnection {
  readonly url: string;
  readonly poolSize: number;
  /**
   * `request`: nothing waits longer than five seconds (acquiring a connection two, a lock two, a statement five, and a
   * server that has gone silent is given up by the client's own clock). `operator`: long work such as an import may take
   * its time.
   */
  readonly patience: 'request' | 'operator';
  /** Standbys that reads may go to; none unless given. */
  readonly replicaUrls?: readonly string[];
  /** Whether statements are prepared once per connection and then called by their names; true unless given. */
  readonly preparedStatements?: boolean;
}

/** What Postgres is told at the start of a session that serves requests. */
export const SESSION_SETTINGS = {
  statement_timeout: '5s',
  lock_timeout: '2s',
  idle_in_transaction_session_timeout: '10s',
  // What nobody waits for any more must not go on beside what takes its place in the pool.
  client_connection_check_interval: '1s',
  // Every statement of a request has an index and one plan that is right for every value; planning each time would cost
  // more than running it, and a plan made while a table was small must not go on reading it whole when it is not.
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  jit: 'off',
} as const;

const optionsOf = (settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');

const REQUEST_SESSION = { query_timeout: 5_500, options: optionsOf(SESSION_SETTINGS) };

/** A read that a standby does not answer goes to the primary, and the two together must not take longer than a read may. */
const STANDBY_SESSION = {
  query_timeout: 2_000,
  options: optionsOf({ ...SESSION_SETTINGS, statement_timeout: '1800ms', default_transaction_read_only: 'on' }),
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

const unheard = (): void => undefined;

/** Whoever uses a connection that is lost hears of it by the next query; an event that nobody hears ends the process. */
export function hearLosses(client: PoolClient): void {
  if (!client.listeners('error').includes(unheard)) client.on('error', unheard);
}

/** Connections to a standby, for reads alone. */
export function standbyPool(url: string, size: number, preparedStatements: boolean): Pool {
  const config: PoolConfig = {
    connectionString: url,
    max: size,
    // The primary is asked then, and needs time too.
    connectionTimeoutMillis: 500,
    application_name: 'compliance-api',
    keepAlive: true,
    ...STANDBY_SESSION,
  };
  const pool = new Pool(config);
  pool.on('error', unheard);
  if (!preparedStatements) sendUnprepared(pool);
  return pool;
}
