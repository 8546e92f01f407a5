import { randomBytes } from 'node:crypto';
import { Client, Pool } from 'pg';
import { type WorkspaceId, workspaceId } from '#libs/kernel';
import { migrate } from '#libs/platform/database';
import { schema } from '../../apps/whole-schema';

/**
 * Locks that sessions of this database wait for, for a FROM clause. Other test files use the same server. A wait for a
 * transaction names no database, but its session has locks that do. Unlike pg_stat_activity, which a transaction reads once.
 */
export const AWAITED_LOCKS = `pg_locks WHERE NOT granted AND pid IN (
  SELECT pid FROM pg_locks WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database()))`;

export { schema as testSchema };

const TEMPLATE = 'test_template';
/** Postgres copies a template without the grants on the database itself. */
const COPY_GRANTS = `UPDATE pg_database SET datacl = template.datacl FROM pg_database AS template
                      WHERE pg_database.datname = $1 AND template.datname = $2`;
/** Held while the template is created, because test files run in parallel. */
const TEMPLATE_LOCK = 4_712;

/** A migrated database for one test file, on the run's Postgres. */
export interface TestDatabase {
  readonly databaseUrl: string;
  readonly migrationDatabaseUrl: string;
  readonly consoleDatabaseUrl: string;
  /** Connects as a superuser, whom row-level security does not restrict, for arranging and checking. */
  readonly admin: Pool;
  drop(): Promise<void>;
}

interface TestDatabaseOptions {
  readonly migrated?: boolean;
  /** Of libc. By default that of the run's Postgres. */
  readonly locale?: string;
}

export async function createTestDatabase({ migrated = true, locale }: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const migrationDatabaseUrl = withDatabase(url('TEST_MIGRATION_DATABASE_URL'), name);
  const databaseUrl = withDatabase(url('TEST_DATABASE_URL'), name);
  const consoleDatabaseUrl = withDatabase(url('TEST_CONSOLE_DATABASE_URL'), name);
  const owner = new URL(migrationDatabaseUrl).username;
  await withServer(async (server) => {
    if (locale !== undefined) {
      const libc = `TEMPLATE template0 LOCALE_PROVIDER libc LOCALE '${locale}'`;
      await server.query(`CREATE DATABASE ${name} OWNER ${owner} ${libc}`);
    } else {
      if (migrated) await makeTemplateOnce(server, owner);
      await server.query(`CREATE DATABASE ${name} OWNER ${owner} ${migrated ? `TEMPLATE ${TEMPLATE}` : ''}`);
      if (migrated) await server.query(COPY_GRANTS, [name, TEMPLATE]);
    }
  });
  // A template has one locale.
  if (migrated && locale !== undefined)
    await migrate({ migrationDatabaseUrl, databaseUrl, consoleDatabaseUrl, schema });
  const admin = superuserPool(withDatabase(url('TEST_SUPERUSER_URL'), name));
  return {
    databaseUrl,
    migrationDatabaseUrl,
    consoleDatabaseUrl,
    admin,
    drop: async () => {
      await admin.end().catch(() => undefined);
      await withServer((server) => server.query(`DROP DATABASE ${name} WITH (FORCE)`));
    },
  };
}

/** Adds a workspace, by default with a slug that no other one has. */
export async function addWorkspace(admin: Pool, slug = `w-${randomBytes(6).toString('hex')}`): Promise<WorkspaceId> {
  const { rows } = await admin.query<{ id: string }>(
    'INSERT INTO workspace (slug, name) VALUES ($1, $1) RETURNING id',
    [slug],
  );
  return workspaceId((rows[0] as { id: string }).id);
}

/** One connection: queries that a test sends at once wait for each other. After a restart of the server it opens another. */
export function superuserPool(connectionString: string): Pool {
  const pool = new Pool({ connectionString, max: 1, idleTimeoutMillis: 0 });
  pool.on('error', () => undefined);
  return pool;
}

/** Creates a migrated template: copying it takes a fraction of the time of the migrations. */
async function makeTemplateOnce(server: Client, owner: string): Promise<void> {
  await server.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
  const { rowCount } = await server.query('SELECT FROM pg_database WHERE datname = $1', [TEMPLATE]);
  if (rowCount === 0) {
    await server.query(`CREATE DATABASE ${TEMPLATE} OWNER ${owner}`);
    const migrationDatabaseUrl = withDatabase(url('TEST_MIGRATION_DATABASE_URL'), TEMPLATE);
    const databaseUrl = withDatabase(url('TEST_DATABASE_URL'), TEMPLATE);
    const consoleDatabaseUrl = withDatabase(url('TEST_CONSOLE_DATABASE_URL'), TEMPLATE);
    await migrate({ migrationDatabaseUrl, databaseUrl, consoleDatabaseUrl, schema });
  }
  await server.query('SELECT pg_advisory_unlock($1)', [TEMPLATE_LOCK]);
}

async function withServer(work: (server: Client) => Promise<unknown>): Promise<void> {
  const server = new Client({ connectionString: url('TEST_SUPERUSER_URL') });
  await server.connect();
  try {
    await work(server);
  } finally {
    await server.end();
  }
}

function url(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set; run this through jest's project "services".`);
  return value;
}

function withDatabase(base: string, name: string): string {
  const changed = new URL(base);
  changed.pathname = `/${name}`;
  return changed.toString();
}
