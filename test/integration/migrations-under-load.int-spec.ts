import { setTimeout as delay } from 'node:timers/promises';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { type SchemaPart, buildIndexConcurrently, migrate } from '#libs/platform/database';
import { StatementLoad } from '../support/statement-load';
import { type TestDatabase, createTestDatabase, testSchema } from '../support/test-database';

/** Maximum wait of a request because of a migration, and a tolerance for a busy machine. */
const LONGEST_MS = 2_000;
const TOLERANCE_MS = 2_000;

/** Takes the strongest lock for a moment. */
class AddColumn1900000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE asset ADD COLUMN note text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE asset DROP COLUMN note');
  }
}

class BuildIndex1900000000002 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await buildIndexConcurrently(runner, 'asset_by_name', 'asset (workspace_id, name)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS asset_by_name');
  }
}

describe('Migrations during reads and writes', () => {
  let database: TestDatabase;
  let load: StatementLoad;
  const open = async (migrated = true): Promise<void> => {
    database = await createTestDatabase({ migrated });
    const url = new URL(process.env['TEST_SUPERUSER_URL'] as string);
    url.pathname = new URL(database.databaseUrl).pathname;
    load = new StatementLoad(url.toString());
  };
  afterEach(async () => {
    await load.end();
    await database.drop();
  });

  let waits: number;
  const bringTo = async (schema: readonly SchemaPart[], patienceMs = 30_000) => {
    const { migrationDatabaseUrl, databaseUrl } = database;
    waits = 0;
    return migrate({ migrationDatabaseUrl, databaseUrl, schema, patienceMs, onWait: () => (waits += 1) });
  };
  const withMigrations = (...migrations: SchemaPart['migrations']) => [
    ...testSchema,
    { migrations, grants: [], entities: [] },
  ];
  const index = async () => {
    const { rows } = await database.admin.query<{ id: number; valid: boolean }>(
      `SELECT indexrelid AS id, indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass('asset_by_name')`,
    );
    return rows[0];
  };

  it('delay no statement by two seconds, each on top of the earlier ones', async () => {
    await open(false);
    const oldestFirst = testSchema
      .flatMap(({ migrations }) => migrations)
      .sort((one, other) => one.name.slice(-13).localeCompare(other.name.slice(-13)));
    load.begin(3);
    for (const migration of oldestFirst) {
      await bringTo([
        { migrations: oldestFirst.slice(0, oldestFirst.indexOf(migration) + 1), grants: [], entities: [] },
      ]);
      await delay(20);
    }
    await load.end();
    expect([...new Set(load.faults)]).toEqual([]);
    expect(load.longestMs).toBeLessThan(LONGEST_MS + TOLERANCE_MS);
    expect(load.used).toEqual(expect.arrayContaining(['application', 'asset', 'audit_event', 'visible_computer']));
    expect(load.statements).toBeGreaterThan(100);
  });

  it('block nobody behind a long transaction, and are applied after it', async () => {
    await open();
    await database.admin.query('BEGIN');
    await database.admin.query('LOCK TABLE asset IN ROW EXCLUSIVE MODE');
    load.begin(2);
    const migrated = bringTo(withMigrations(AddColumn1900000000001));
    await delay(4_500);
    await database.admin.query('COMMIT');
    expect((await migrated).applied).toEqual([AddColumn1900000000001.name]);
    expect(waits).toBeGreaterThan(0);
    await load.end();
    expect([...new Set(load.faults)]).toEqual([]);
    expect(load.longestMs).toBeLessThan(LONGEST_MS + TOLERANCE_MS);
  });

  it('give up after their time limit and change nothing', async () => {
    await open();
    await database.admin.query('BEGIN');
    await database.admin.query('LOCK TABLE asset IN ROW EXCLUSIVE MODE');
    await expect(bringTo(withMigrations(AddColumn1900000000001), 0)).rejects.toThrow('lock timeout');
    await database.admin.query('COMMIT');
    const { rows } = await database.admin.query(`SELECT FROM migration WHERE name LIKE 'AddColumn%'`);
    expect(rows).toEqual([]);
  });

  it('build an index once, by any of several deployments, also after a failed attempt', async () => {
    await open();
    const schema = withMigrations(BuildIndex1900000000002);
    // The index waits for older transactions to end, but nothing else waits meanwhile.
    await database.admin.query('BEGIN');
    await database.admin.query('LOCK TABLE asset IN ROW EXCLUSIVE MODE');
    load.begin(2);
    const deployments = Promise.all([bringTo(schema), bringTo(schema)]);
    await delay(2_500);
    expect((await index())?.valid).toBe(false);
    await database.admin.query('COMMIT');
    expect((await deployments).flatMap(({ applied }) => applied)).toEqual([BuildIndex1900000000002.name]);
    const built = await index();
    expect(built?.valid).toBe(true);
    const tryAgain = async () => {
      await database.admin.query(`DELETE FROM migration WHERE name LIKE 'BuildIndex%'`);
      await bringTo(schema);
      return index();
    };
    // Another index of the same migration failed, and this one was complete.
    expect(await tryAgain()).toEqual(built);
    await database.admin.query(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'asset_by_name'::regclass`);
    expect(await tryAgain()).toMatchObject({ valid: true });
    await load.end();
    expect([...new Set(load.faults)]).toEqual([]);
    expect(load.longestMs).toBeLessThan(LONGEST_MS + TOLERANCE_MS);
  });
});
