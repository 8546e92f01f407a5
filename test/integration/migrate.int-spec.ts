import { randomBytes } from 'node:crypto';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { DatabaseProbe, migrate } from '#libs/platform/database';
import { RedisClient } from '#libs/platform/redis';
import { keepFormerStates } from '../../libs/inventory/src/assets/typeorm/former-states';
import { ReadinessWatch } from '../../libs/platform/src/process/readiness';
import { type TestDatabase, createTestDatabase, testSchema } from '../support/test-database';

/** Adds a column of assets as docs/extending/writable-field.md does. */
class LaterColumn1780000000990 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE asset ADD COLUMN later text; ALTER TABLE asset_version ADD COLUMN later text');
    await keepFormerStates(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE asset DROP COLUMN later; ALTER TABLE asset_version DROP COLUMN later');
    await keepFormerStates(runner);
  }
}

describe('Migrations', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase({ migrated: false });
  });
  afterEach(() => database.drop());

  const urls = () => ({ migrationDatabaseUrl: database.migrationDatabaseUrl, databaseUrl: database.databaseUrl });
  const readiness = async (stopping = false) => {
    const probe = new DatabaseProbe(database.databaseUrl);
    const watch = new ReadinessWatch({
      appliedMigrations: () => probe.appliedMigrations(),
      schema: testSchema,
      redis: new RedisClient(null),
      isStopping: () => stopping,
      onChange: () => undefined,
    });
    try {
      return await watch.check();
    } finally {
      await probe.close();
    }
  };

  it('are applied once by the first of several deployments', async () => {
    const reports = await Promise.all([1, 2, 3].map(() => migrate({ ...urls(), schema: testSchema })));
    const names = testSchema.flatMap((part) => part.migrations.map(({ name }) => name));
    expect(reports.flatMap(({ applied }) => applied).sort()).toEqual(names.sort());
    expect((await migrate({ ...urls(), schema: testSchema })).applied).toEqual([]);
  });

  it('let one role replace another while both serve', async () => {
    await migrate({ ...urls(), schema: testSchema });
    const second = `runtime_${randomBytes(6).toString('hex')}`;
    const url = new URL(database.databaseUrl);
    [url.username, url.password] = [second, 'second'];
    await database.admin.query(`CREATE ROLE ${second} LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD 'second'`);
    await migrate({ ...urls(), databaseUrl: url.href, schema: testSchema });
    const rightsOf = async (role: string) => {
      const { rows } = await database.admin.query<{ rights: string }>(
        `SELECT string_agg(concat(relname, relacl_of.privilege_type), ' ' ORDER BY relname, privilege_type) AS rights
           FROM pg_class, aclexplode(relacl) AS relacl_of
          WHERE grantee = $1::regrole AND relnamespace = 'public'::regnamespace`,
        [role],
      );
      return rows[0]?.rights;
    };
    const first = decodeURIComponent(new URL(database.databaseUrl).username);
    expect(await rightsOf(first)).toMatch(/assetSELECT/);
    expect(await rightsOf(second)).toBe(await rightsOf(first));
    await database.admin.query(`DROP OWNED BY ${second}; DROP ROLE ${second}`);
  });

  it('make the instance ready once applied, and it is not ready while it stops', async () => {
    expect(await readiness()).toMatchObject({ ready: false, checks: { postgres: 'ok' } });
    await migrate({ ...urls(), schema: testSchema.slice(0, 1) });
    const pending = testSchema.slice(1).flatMap(({ migrations }) => migrations).length;
    expect(await readiness()).toMatchObject({
      ready: false,
      checks: { migrations: expect.stringMatching(`^${pending} `) as string },
    });
    await migrate({ ...urls(), schema: testSchema });
    expect(await readiness()).toMatchObject({ ready: true });
    expect(await readiness(true)).toMatchObject({ ready: false, checks: { process: 'stopping' } });
  });

  it('can be reverted, newest first, with a later column of assets', async () => {
    const schema = [...testSchema, { migrations: [LaterColumn1780000000990], entities: [], grants: [] }];
    await migrate({ ...urls(), schema });
    const dataSource = new DataSource({
      type: 'postgres',
      url: database.migrationDatabaseUrl,
      migrations: schema.flatMap((part) => part.migrations),
      migrationsTableName: 'migration',
      installExtensions: false,
    });
    await dataSource.initialize();
    try {
      await dataSource.undoLastMigration();
      await dataSource.runMigrations();
      for (const _ of dataSource.migrations) await dataSource.undoLastMigration();
      const left = await dataSource.query<unknown[]>(
        `SELECT relname FROM pg_class WHERE relkind IN ('r', 'v') AND relnamespace = 'public'::regnamespace AND relname <> 'migration'`,
      );
      expect(left).toEqual([]);
    } finally {
      await dataSource.destroy();
    }
  });

  it('refuse a runtime role that is a member of the owner, before and after the first migration', async () => {
    const owner = new URL(database.migrationDatabaseUrl).username;
    const member = `member_${randomBytes(6).toString('hex')}`;
    await database.admin.query(`CREATE ROLE ${member} LOGIN NOINHERIT PASSWORD 'member' IN ROLE ${owner}`);
    const url = new URL(database.databaseUrl);
    url.username = member;
    const asMember = () => migrate({ ...urls(), databaseUrl: url.href, schema: testSchema });
    try {
      await expect(asMember()).rejects.toThrow('is a member of their owner');
      await migrate({ ...urls(), schema: testSchema });
      await expect(asMember()).rejects.toThrow('is a member of their owner');
    } finally {
      await database.admin.query(`DROP OWNED BY ${member}; DROP ROLE ${member}`);
    }
  });

  it('refuse one role for both connections, and a runtime role that bypasses row-level security', async () => {
    const owner = { ...urls(), databaseUrl: database.migrationDatabaseUrl, schema: testSchema };
    await expect(migrate(owner)).rejects.toThrow('both connect as');
    const superuser = { ...urls(), databaseUrl: process.env['TEST_SUPERUSER_URL'] as string, schema: testSchema };
    await expect(migrate(superuser)).rejects.toThrow('is a member of their owner');
    const nobody = new URL(database.databaseUrl);
    nobody.username = 'no_such_role';
    await expect(migrate({ ...urls(), databaseUrl: nobody.toString(), schema: testSchema })).rejects.toThrow(
      /no_such_role/,
    );
  });

  it('refuse a database whose encoding is not UTF-8, and say how to create one', async () => {
    const name = `ascii_${randomBytes(6).toString('hex')}`;
    const other = new URL(database.migrationDatabaseUrl);
    await database.admin.query(
      `CREATE DATABASE ${name} OWNER ${other.username} ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0`,
    );
    other.pathname = name;

    const refused = migrate({ ...urls(), migrationDatabaseUrl: other.href, schema: testSchema });

    await expect(refused).rejects.toThrow(
      /SQL_ASCII.*ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0/,
    );
    await database.admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
  });

  it('take as long as they need, whatever the database allows others', async () => {
    const { pathname } = new URL(database.migrationDatabaseUrl);
    await database.admin.query(`ALTER DATABASE ${pathname.slice(1)} SET statement_timeout = '1ms'`);

    await expect(migrate({ ...urls(), schema: testSchema })).resolves.toBeDefined();
  });

  it('leave alone what others have in the schema', async () => {
    await database.admin.query('CREATE TABLE of_superuser (id int); CREATE SEQUENCE sequence_of_superuser');

    await expect(migrate({ ...urls(), schema: testSchema })).resolves.toBeDefined();
  });

  it('revoke what an earlier release granted and this one does not need', async () => {
    await migrate({ ...urls(), schema: testSchema });
    const role = new URL(database.databaseUrl).username;
    await database.admin.query(`GRANT DELETE ON asset TO ${role}`);
    await migrate({ ...urls(), schema: testSchema });
    const { rows } = await database.admin.query<{ may: boolean }>(
      `SELECT has_table_privilege($1, 'asset', 'DELETE') AS may`,
      [role],
    );
    expect(rows[0]?.may).toBe(false);
  });
});
