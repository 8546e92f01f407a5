import { EmbeddedPostgresFault, openEmbeddedPostgres } from '#libs/local-postgres';
import { type Settings, isSet, loadSettings, loadSettingsWithoutDatabase } from '#libs/platform/config';
import { migrate } from '#libs/platform/database';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { CommandFailed, WrongUsage } from './command-faults';
import { Interruption } from './interruption';
import { say } from './output';
import { schema } from '../../whole-schema';

/** The database of a command, with both of its roles. */
export interface OperatorDatabase {
  readonly settings: Settings;
  /** Connects as the owner, which operators' commands use. */
  readonly migrationDatabaseUrl: string;
  /** Connects as the API's role. */
  readonly databaseUrl: string;
  /** Connects as the console's role. Null where none is configured. */
  readonly consoleDatabaseUrl: string | null;
  /** Migrations that were applied when the database was opened. */
  readonly migrated: readonly string[];
  /** Releases the embedded server. Its last user stops it. */
  close(): Promise<void>;
}

/**
 * Opens the configured database, or else the embedded one, whose schema is updated first. An operator's own database is
 * changed by `migrate` only.
 */
async function openOperatorDatabase(environment = process.env): Promise<OperatorDatabase> {
  if (isSet(environment, 'DATABASE_URL')) return openNamedDatabase(environment);
  if (isSet(environment, 'MIGRATION_DATABASE_URL')) {
    throw new WrongUsage('MIGRATION_DATABASE_URL is set and DATABASE_URL is not; set both or none.');
  }
  const lenient = loadSettingsWithoutDatabase(environment);
  if (lenient.production) {
    throw new WrongUsage('DATABASE_URL and MIGRATION_DATABASE_URL are required when NODE_ENV=production.');
  }
  const server = await openEmbeddedPostgres({ localDir: lenient.localDir, say });
  let migrated: readonly string[];
  try {
    migrated = (await migrate({ ...server, schema, onWait: say })).applied;
  } catch (error) {
    await server.close().catch(() => undefined);
    throw error;
  }
  const { databaseUrl, migrationDatabaseUrl, consoleDatabaseUrl } = server;
  const settings = loadSettings({
    ...environment,
    DATABASE_URL: databaseUrl,
    MIGRATION_DATABASE_URL: migrationDatabaseUrl,
  });
  const urls = { databaseUrl, migrationDatabaseUrl, consoleDatabaseUrl };
  return { settings, ...urls, migrated, close: () => closeQuietly(server) };
}

/** Opens the database while `work` runs, which may be interrupted. */
export async function withDatabase<Result>(
  work: (database: OperatorDatabase, interruption: Interruption) => Promise<Result>,
): Promise<Result> {
  const interruption = new Interruption();
  const database = await interruption.outcomeOf(openOperatorDatabase());
  try {
    interruption.check();
    return await interruption.outcomeOf(work(database, interruption));
  } finally {
    await database.close();
  }
}

async function openNamedDatabase(environment: NodeJS.ProcessEnv): Promise<OperatorDatabase> {
  const settings = loadSettings(environment);
  const { databaseUrl, migrationDatabaseUrl } = settings;
  if (migrationDatabaseUrl === null) {
    throw new WrongUsage(
      'MIGRATION_DATABASE_URL is required beside DATABASE_URL: commands work as the owner of the database.',
    );
  }
  const fault = await connectionFault(migrationDatabaseUrl, assertOwner);
  if (fault !== null) throw new CommandFailed(`The database of MIGRATION_DATABASE_URL cannot be used: ${fault}`);
  const consoleDatabaseUrl = settings.console.databaseUrl;
  const urls = { databaseUrl, migrationDatabaseUrl, consoleDatabaseUrl };
  return { settings, ...urls, migrated: [], close: () => Promise.resolve() };
}

/** Row-level security shows another role no row, so `audit verify` would find nothing wrong. */
async function assertOwner(client: Client): Promise<void> {
  const { rows } = await client.query<{ role: string; owns: boolean }>(
    `SELECT current_user AS role, pg_has_role(relowner, 'USAGE') AS owns
       FROM pg_class WHERE oid = to_regclass('workspace')`,
  );
  // Before the first migration there is no table.
  if (rows[0]?.owns === false) {
    throw new CommandFailed(
      `The role "${rows[0].role}" of MIGRATION_DATABASE_URL does not own the tables; commands work as their owner.`,
    );
  }
}

/** A failed stop is reported and does not fail the command. */
async function closeQuietly(server: { close(): Promise<void> }): Promise<void> {
  try {
    await server.close();
  } catch (error) {
    if (!(error instanceof EmbeddedPostgresFault)) throw error;
    process.stderr.write(`${error.message}\n`);
  }
}

type Use = (client: Client) => Promise<void>;

/**
 * Returns the reason why no connection is possible, or null. Waits for a server that is starting. `use` gets the
 * connection before it is closed.
 */
export async function connectionFault(url: string, use: Use = () => Promise.resolve()): Promise<string | null> {
  for (const deadline = Date.now() + 15_000; ; await delay(250)) {
    const fault = await tryToConnect(url, use);
    if (fault === null) return null;
    // 57P03: starting, recovering or stopping.
    if (fault.code !== '57P03' || Date.now() > deadline) return fault.reason;
  }
}

async function tryToConnect(url: string, use: Use): Promise<{ readonly code: string; readonly reason: string } | null> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  try {
    const error = await client.connect().then(
      () => null,
      (reason: unknown) => reason as Error & { readonly code?: string },
    );
    if (error) return { code: error.code ?? '', reason: reasonOf(error, error.code ?? '', new URL(url).host) };
    await use(client);
    return null;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function reasonOf(error: Error, code: string, host: string): string {
  if (code === 'ECONNREFUSED') return `nothing listens on ${host}.`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the host of ${host} is not known.`;
  if (/timeout expired/.test(error.message)) return `${host} does not respond.`;
  // A host with several addresses fails with one error for each and no message of its own.
  const message = error.message || ((error as Partial<AggregateError>).errors ?? []).map(String).join('; ');
  return `${host} refuses: ${message || code}.`;
}
