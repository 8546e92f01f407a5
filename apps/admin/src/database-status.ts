import { BYPASSES_OR_IS_OWNER, IS_TOO_POWERFUL } from '#libs/platform/database';
import { Client } from 'pg';
import { type CountersStatus, reconcileCounters } from './counters-status';
import { type OperatorDatabase, connectionFault, withDatabase } from './operator-database';
import { schema } from '../../whole-schema';

/** The oldest supported version, as Postgres numbers it. */
const OLDEST_VERSION = 150_000;

/** Collations of indexes by which a library of the system sorts in another way than when they were built. */
const CHANGED_COLLATIONS = `
  SELECT 'default' AS name FROM pg_database
   WHERE datname = current_database() AND datcollversion <> pg_database_collation_actual_version(oid)
   UNION
  SELECT collname FROM pg_collation
   WHERE collnamespace = 'public'::regnamespace AND collversion <> pg_collation_actual_version(oid)
   ORDER BY name`;

export interface DatabaseStatus {
  readonly ok: boolean;
  /** Version of the server. */
  readonly server: string;
  readonly database: string;
  /** Names of the roles. */
  readonly roles: { readonly owner: string; readonly runtime: string };
  readonly migrations: { readonly applied: readonly string[]; readonly pending: readonly string[] };
  /** Null when the schema is outdated. */
  readonly workspaces: number | null;
  readonly applications: number | null;
  /** Assets that clients see, by their counters. */
  readonly assets: number | null;
  /** Former states and the space that they take. Null when the schema is outdated. */
  readonly history: { readonly rows: number; readonly bytes: number } | null;
  /** Only in a deep inspection. Null when the schema is outdated. */
  readonly counters?: CountersStatus | null;
  /** Faults as sentences. */
  readonly problems: readonly string[];
}

/** A deep inspection also compares and repairs the counters of every workspace. */
export async function inspect(deep: boolean): Promise<DatabaseStatus> {
  return withDatabase(async (database, interruption) => {
    const client = new Client({ connectionString: database.migrationDatabaseUrl });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return await inspectBy(client, database, deep ? () => reconcileCounters(database, interruption) : null);
    } finally {
      await client.end();
    }
  });
}

async function inspectBy(
  client: Client,
  { databaseUrl }: OperatorDatabase,
  countDeeply: (() => Promise<CountersStatus>) | null,
): Promise<DatabaseStatus> {
  const problems: string[] = [];
  const runtime = decodeURIComponent(new URL(databaseUrl).username);
  const fault = await connectionFault(databaseUrl);
  if (fault !== null) problems.push(`The database of DATABASE_URL cannot be used: ${fault}`);

  const { server, version, database, owner, powerful } = await first<{
    server: string;
    version: number;
    database: string;
    owner: string;
    powerful: boolean | null;
  }>(
    client,
    `SELECT current_setting('server_version') AS server, current_setting('server_version_num')::int AS version,
            current_database() AS database, current_user AS owner,
            (SELECT ${BYPASSES_OR_IS_OWNER} FROM pg_roles WHERE rolname = $1) AS powerful`,
    [runtime],
  );
  if (version < OLDEST_VERSION) problems.push(`Postgres ${server} is too old; 15 or newer is needed.`);
  else problems.push(...(await collationFaults(client)));
  if (powerful === true) problems.push(`The role "${runtime}" of DATABASE_URL ${IS_TOO_POWERFUL}.`);
  const migrations = await migrationsOf(client);
  if (migrations.pending.length > 0)
    problems.push(`${migrations.pending.length} migrations are pending; run: admin migrate`);
  const upToDate = migrations.pending.length === 0;
  // First, so that the totals below are correct.
  const deep = countDeeply && { counters: upToDate ? await countDeeply() : null };
  const counts = upToDate ? await count(client) : null;
  return {
    ok: problems.length === 0,
    server,
    database,
    roles: { owner, runtime },
    migrations,
    workspaces: counts?.workspaces ?? null,
    applications: counts?.applications ?? null,
    assets: counts?.assets ?? null,
    history: counts?.history ?? null,
    ...deep,
    problems,
  };
}

async function collationFaults(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(CHANGED_COLLATIONS);
  if (rows.length === 0) return [];
  const names = rows.map(({ name }) => name).join(', ');
  return [`The system sorts text otherwise than the indexes do (${names}); see docs/operations.md#order-of-text`];
}

async function migrationsOf(client: Client): Promise<DatabaseStatus['migrations']> {
  const { made } = await first<{ made: boolean }>(client, `SELECT to_regclass('migration') IS NOT NULL AS made`);
  const { rows } = made
    ? await client.query<{ name: string }>('SELECT name FROM migration ORDER BY timestamp')
    : { rows: [] };
  const applied = rows.map(({ name }) => name);
  const known = schema.flatMap((part) => part.migrations.map((migration) => migration.name));
  // In the order of application: a migration's name ends in its timestamp.
  const pending = known.filter((name) => !applied.includes(name)).sort(byTimestamp);
  return { applied, pending };
}

const byTimestamp = (one: string, other: string): number => Number(one.slice(-13)) - Number(other.slice(-13));

interface Counts {
  readonly workspaces: number;
  readonly applications: number;
  readonly assets: number;
  readonly history: NonNullable<DatabaseStatus['history']>;
}

/** Row-level security also restricts the owner, so assets are counted for each workspace. */
async function count(client: Client): Promise<Counts> {
  const { rows: workspaces } = await client.query<{ id: string }>('SELECT id FROM workspace');
  const { applications } = await first<{ applications: number }>(
    client,
    'SELECT count(*)::int AS applications FROM application',
  );
  let assets = 0;
  let rows = 0;
  for (const { id } of workspaces) {
    await client.query(`SELECT set_config('app.workspace_id', $1, false)`, [id]);
    const { n } = await first<{ n: string }>(
      client,
      'SELECT COALESCE(sum(n), 0) AS n FROM facet_count WHERE workspace_id = $1',
      [id],
    );
    assets += Number(n);
    const former = 'SELECT count(*) AS n FROM asset_version WHERE workspace_id = $1';
    rows += Number((await first<{ n: string }>(client, former, [id])).n);
  }
  const { bytes } = await first<{ bytes: string }>(client, `SELECT pg_total_relation_size('asset_version') AS bytes`);
  return { workspaces: workspaces.length, applications, assets, history: { rows, bytes: Number(bytes) } };
}

async function first<Row extends object>(client: Client, sql: string, values: readonly unknown[] = []): Promise<Row> {
  const { rows } = await client.query<Row>(sql, [...values]);
  return rows[0] as Row;
}
