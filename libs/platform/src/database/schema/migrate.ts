import { setTimeout as delay } from 'node:timers/promises';
import { DataSource, type Logger, type QueryRunner } from 'typeorm';
import { OPERATOR_OPTIONS } from '../connections/data-source';
import { BYPASSES_OR_IS_OWNER, IS_TOO_POWERFUL } from './runtime-role';
import type { Grant, SchemaPart } from './schema-part';

/** SQLSTATE of a lock timeout. */
const LOCK_NOT_AVAILABLE = '55P03';
/** Lets queries that queued behind the migration run before the next try. */
const PAUSE_MS = 1_000;

/** Held for the whole run, so that concurrent deployments take turns. */
const MIGRATION_LOCK = 7_204_716_105_331n;

const nothing = (): void => undefined;
/** TypeORM would log to stdout, which holds the command's output. Failures are thrown anyway. */
const SILENT: Logger = {
  logQuery: nothing,
  logQueryError: nothing,
  logQuerySlow: nothing,
  logSchemaBuild: nothing,
  logMigration: nothing,
  log: nothing,
};

/** Readiness compares the applied migrations with those the instance knows. */
const MIGRATION_TABLE_GRANT: Grant = { table: 'migration', privileges: 'SELECT' };

export interface MigrationReport {
  /** Names of the migrations that this run applied, oldest first. */
  readonly applied: readonly string[];
}

/**
 * Applies missing migrations and grants the runtime role, and the console's role if there is one, their privileges. Safe to run at any time, also concurrently.
 * Each migration is one transaction unless it sets `transaction = false`. It waits two seconds at most for a lock, so
 * that traffic never queues longer behind it. Then it tries again until `patienceMs` is over, by default two minutes.
 */
export async function migrate(options: {
  readonly migrationDatabaseUrl: string;
  readonly databaseUrl: string;
  /** Absent or null where no console runs. */
  readonly consoleDatabaseUrl?: string | null;
  readonly schema: readonly SchemaPart[];
  readonly patienceMs?: number;
  /** Receives the reason as a sentence: once while another migration runs, and at each lock timeout. */
  readonly onWait?: (reason: string) => void;
}): Promise<MigrationReport> {
  const { databaseUrl, consoleDatabaseUrl, schema } = options;
  const roles: Role[] = [
    { setting: 'DATABASE_URL', name: roleOf(databaseUrl), grants: schema.flatMap((part) => part.grants) },
  ];
  if (consoleDatabaseUrl) {
    const grants = schema.flatMap((part) => part.consoleGrants ?? []);
    roles.push({ setting: 'CONSOLE_DATABASE_URL', name: roleOf(consoleDatabaseUrl), grants });
  }
  const dataSource = new DataSource({
    type: 'postgres',
    url: options.migrationDatabaseUrl,
    migrations: options.schema.flatMap((part) => part.migrations),
    migrationsTableName: 'migration',
    uuidExtension: 'pgcrypto',
    installExtensions: false,
    poolSize: 2,
    connectTimeoutMS: 5_000,
    applicationName: 'compliance-migration',
    logger: SILENT,
    extra: { lock_timeout: 2_000, keepAlive: true, options: OPERATOR_OPTIONS },
  });
  await dataSource.initialize();
  const lock = dataSource.createQueryRunner();
  try {
    await takeMigrationLock(lock, options.onWait);
    const [{ owner, encoding }] = (await lock.query(
      `SELECT current_user AS owner, current_setting('server_encoding') AS encoding`,
    )) as [{ owner: string; encoding: string }];
    // Clients may send any text. Postgres offers the collations of look-ups in UTF-8 only.
    if (encoding !== 'UTF8') {
      throw new Error(
        `The encoding of the database is ${encoding}. ` +
          `Create one with: CREATE DATABASE … OWNER … ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0`,
      );
    }
    for (const [place, role] of roles.entries()) {
      const others = [{ setting: 'MIGRATION_DATABASE_URL', name: owner }, ...roles.slice(0, place)];
      const same = others.find(({ name }) => name === role.name);
      if (same) throw notApart(role, same.setting);
      await assertRoleFit(lock, role);
    }
    const before = await appliedMigrations(lock);
    const wait = { deadline: Date.now() + (options.patienceMs ?? 120_000), told: options.onWait };
    await untilUnlocked(() => dataSource.runMigrations({ transaction: 'each' }), wait);
    for (const role of roles) await untilUnlocked(() => grant(lock, role), wait);
    return { applied: (await appliedMigrations(lock)).filter((name) => !before.includes(name)) };
  } finally {
    await lock.query('SELECT pg_advisory_unlock_all()').catch(() => undefined);
    await lock.release();
    await dataSource.destroy();
  }
}

async function untilUnlocked(
  work: () => Promise<unknown>,
  wait: { readonly deadline: number; readonly told: ((reason: string) => void) | undefined },
): Promise<void> {
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE || Date.now() > wait.deadline) throw error;
      wait.told?.('A transaction holds what a migration needs; trying again in a second.');
      await delay(PAUSE_MS);
    }
  }
}

/** Oldest first. */
async function appliedMigrations(connection: QueryRunner): Promise<string[]> {
  if (!(await connection.hasTable('migration'))) return [];
  const rows = (await connection.query('SELECT name FROM migration ORDER BY id')) as { name: string }[];
  return rows.map(({ name }) => name);
}

interface Role {
  readonly setting: string;
  readonly name: string;
  readonly grants: readonly Grant[];
}

const roleOf = (url: string): string => decodeURIComponent(new URL(url).username);

/** One role would have the rights of two. The owner of the tables could switch row-level security off. */
function notApart({ name, setting }: Role, other: string): Error {
  const who = setting === 'DATABASE_URL' ? 'The API' : 'The console';
  return new Error(
    `${setting} and ${other} both connect as "${name}". ` +
      `${who} needs a role of its own that owns nothing: CREATE ROLE …, and name it in ${setting}.`,
  );
}

/** Refuses a role that bypasses row-level security, may become the owner, or does not exist. */
async function assertRoleFit(connection: QueryRunner, { name, setting }: Role): Promise<void> {
  const [role] = (await connection.query(
    `SELECT ${BYPASSES_OR_IS_OWNER} AS powerful FROM pg_roles WHERE rolname = $1`,
    [name],
  )) as { powerful: boolean }[];
  if (role && !role.powerful) return;
  const what = role ? IS_TOO_POWERFUL : 'does not exist';
  throw new Error(
    `The role "${name}" of ${setting} ${what}. ` +
      `Create one with: CREATE ROLE … LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD '…'`,
  );
}

/** Takes a role's privileges on what the owner has. Objects of others, such as views of an extension, are none of ours. */
const REVOCATIONS = `
  SELECT format('REVOKE ALL ON %s %s FROM %I', kind, string_agg(class.oid::regclass::text, ', '), $1::text) AS revocation
    FROM pg_class AS class
   CROSS JOIN LATERAL (SELECT CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind) AS its
   WHERE relnamespace = 'public'::regnamespace AND pg_has_role(relowner, 'USAGE')
     AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
   GROUP BY kind`;

/** Grants exactly the listed privileges. Revokes privileges of earlier releases that are no longer needed. */
async function grant(connection: QueryRunner, role: Role): Promise<void> {
  const name = `"${role.name.replaceAll('"', '""')}"`;
  await connection.startTransaction();
  try {
    await connection.query(`GRANT USAGE ON SCHEMA public TO ${name}`);
    // Only imports need temporary tables. A role could shadow our tables with them.
    const [{ database }] = (await connection.query('SELECT quote_ident(current_database()) AS database')) as [
      { database: string },
    ];
    await connection.query(`REVOKE TEMPORARY ON DATABASE ${database} FROM PUBLIC, ${name}`);
    const revocations = (await connection.query(REVOCATIONS, [role.name])) as { revocation: string }[];
    for (const { revocation } of revocations) await connection.query(revocation);
    for (const granted of [...role.grants, MIGRATION_TABLE_GRANT]) {
      await connection.query(`GRANT ${rightsOf(granted, database)} TO ${name}`);
    }
    await connection.commitTransaction();
  } catch (error) {
    await connection.rollbackTransaction();
    throw error;
  }
}

function rightsOf(granted: Grant, database: string): string {
  if ('database' in granted) return `${granted.database} ON DATABASE ${database}`;
  if ('function' in granted) return `EXECUTE ON FUNCTION ${granted.function}`;
  if ('sequence' in granted) return `USAGE ON SEQUENCE ${granted.sequence}`;
  return `${granted.privileges} ON TABLE ${granted.table}`;
}

/**
 * Waits until no other migration of this database runs. None can start before the connection is closed. `onWait` is
 * called once with a sentence.
 *
 * Polls instead of waiting in Postgres. A waiting statement holds a snapshot, and a concurrent index build would wait
 * for that snapshot to end: a deadlock.
 */
async function takeMigrationLock(connection: QueryRunner, onWait?: (reason: string) => void): Promise<void> {
  for (let told = false; ; await delay(100)) {
    const [{ taken }] = (await connection.query('SELECT pg_try_advisory_lock($1) AS taken', [MIGRATION_LOCK])) as [
      { taken: boolean },
    ];
    if (taken) return;
    if (!told) onWait?.('Waiting for another migration of this database.');
    told = true;
  }
}
