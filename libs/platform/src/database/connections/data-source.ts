import type { DataSource, DataSourceOptions } from 'typeorm';
import { Pool, type PoolConfig } from 'pg';
import { sendUnprepared } from '../pipelined-statements';

export interface DatabaseConnection {
  readonly url: string;
  readonly poolSize: number;
  /**
   * `request`: no wait exceeds five seconds. Limits are two seconds for a connection, two for a lock and five for a
   * statement; a client-side timer gives up on a silent server.
   * `operator`: long work such as an import has no limits.
   */
  readonly patience: 'request' | 'operator';
  /** Entity classes that adapters may use. None by default. */
  readonly entities?: readonly (new () => object)[];
  /** Standbys that may serve reads. None by default. */
  readonly standbyUrls?: readonly string[];
  /** Prepares statements once per connection and then calls them by name. True by default. */
  readonly preparedStatements?: boolean;
}

/** Session settings of connections that serve requests. */
const SESSION_SETTINGS = {
  statement_timeout: '5s',
  lock_timeout: '2s',
  idle_in_transaction_session_timeout: '10s',
  // Postgres stops a statement whose client is gone. Its replacement in the pool needs the capacity.
  client_connection_check_interval: '1s',
  // Every statement of a request has an index and one plan that fits every value. Planning on each call would cost more
  // than running it. A plan made while a table was small must not keep scanning it sequentially.
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  // A merge join reads one of its tables from the beginning on, however far behind the page begins.
  enable_mergejoin: 'off',
  jit: 'off',
} as const;

const optionsOf = (settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');

const REQUEST_SESSION = { query_timeout: 5_500, options: optionsOf(SESSION_SETTINGS) };

/**
 * A failed standby read is repeated on the primary. Both together must fit into the time limit of a read. A standby cancels
 * a slow statement before its reader gives up after 1.5 seconds, half of one for the connection. So only a silent one
 * outlasts that.
 */
const STANDBY_SESSION = {
  query_timeout: 2_000,
  options: optionsOf({ ...SESSION_SETTINGS, statement_timeout: '900ms', default_transaction_read_only: 'on' }),
};

/**
 * Work of operators has no limits, whatever the database sets for others. Postgres ends the session of a machine that is gone
 * within two minutes, instead of two hours: an import locks the counters of its workspace.
 */
export const OPERATOR_OPTIONS = optionsOf({
  statement_timeout: '0',
  lock_timeout: '0',
  idle_session_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  tcp_keepalives_idle: '60',
  tcp_keepalives_interval: '10',
  tcp_keepalives_count: '6',
});

/**
 * A wait for a machine of Postgres that is gone ends as early, instead of after two hours. Bytes that it has not taken are
 * sent again by the system, for about 15 minutes.
 */
const OPERATOR_SESSION = { options: OPERATOR_OPTIONS, keepAliveInitialDelayMillis: 60_000 };

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
    entities: [...(connection.entities ?? [])],
    uuidExtension: 'pgcrypto',
    installExtensions: false,
    invalidWhereValuesBehavior: { null: 'throw', undefined: 'throw' },
    poolErrorHandler: onIdleError,
    extra: {
      keepAlive: true,
      ...(connection.patience === 'request' ? REQUEST_SESSION : OPERATOR_SESSION),
    },
  };
}

/** The node-postgres pool under TypeORM. Hot reads use it directly, with prepared statements. */
export function poolOf(dataSource: DataSource): Pool {
  return (dataSource.driver as unknown as { master: Pool }).master;
}

/** Opens connections to a standby, for reads only. */
export function standbyPool(url: string, size: number, preparedStatements: boolean): Pool {
  const config: PoolConfig = {
    connectionString: url,
    max: size,
    // The read then goes to the primary, which needs time too.
    connectionTimeoutMillis: 500,
    application_name: 'compliance-api',
    keepAlive: true,
    ...STANDBY_SESSION,
  };
  const pool = new Pool(config);
  pool.on('error', () => undefined);
  if (!preparedStatements) sendUnprepared(pool);
  return pool;
}

/** Returns session settings that did not take effect, each as `name = value`. Connection poolers drop them. */
export async function missingSessionSettings(dataSource: DataSource): Promise<string[]> {
  const names = Object.keys(SESSION_SETTINGS);
  const found = await dataSource.query<{ name: string; value: string }[]>(
    'SELECT name, current_setting(name) AS value FROM unnest($1::text[]) AS name',
    [names],
  );
  const values = new Map(found.map(({ name, value }) => [name, value]));
  return Object.entries(SESSION_SETTINGS)
    .filter(([name, value]) => values.get(name) !== value)
    .map(([name, value]) => `${name} = ${value}`);
}
