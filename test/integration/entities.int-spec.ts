import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm';
import { entities } from '../../apps/whole-schema';
import { FacetCountRow } from '../../libs/inventory/src/assets/typeorm/counts.row';
import { dataSourceOptions } from '../../libs/platform/src/database/connections/data-source';
import { type TestDatabase, createTestDatabase } from '../support/test-database';

type Entities = readonly (new () => object)[];

/** Checks, foreign keys, indexes and comments stand in the migrations alone; TypeORM would take them away. */
const IN_MIGRATIONS_ALONE = [/^ALTER TABLE \S+ DROP CONSTRAINT \S+$/, /^DROP INDEX /, /^COMMENT ON /];
/**
 * TypeORM's own table, a total for one statement, and tables that only instances of release 1.0.0 read, during an upgrade.
 */
const WITHOUT_ENTITY = ['migration', 'visible_computer_count', 'audit_head', 'audit_seal'];

describe('Entities', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    await describeAsPlain(database);
  });
  afterAll(() => database.drop());

  const withDataSource = async <Result>(
    described: Entities,
    work: (dataSource: DataSource) => Promise<Result>,
  ): Promise<Result> => {
    const connection = { url: database.migrationDatabaseUrl, poolSize: 1, patience: 'operator' } as const;
    const options = dataSourceOptions({ ...connection, entities: described }, () => undefined);
    const dataSource = await new DataSource(options).initialize();
    try {
      return await work(dataSource);
    } finally {
      await dataSource.destroy();
    }
  };

  /** The statements by which TypeORM would make the tables as the entities say. */
  const differences = (described: Entities): Promise<string[]> =>
    withDataSource(described, async (dataSource) => {
      queryInTurn(dataSource);
      const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
      const queries = upQueries.map(({ query }) => query);
      return queries.filter((query) => !IN_MIGRATIONS_ALONE.some((pattern) => pattern.test(query)));
    });

  it('have the columns, types, nulls, defaults and primary keys of the migrations', async () => {
    const statements = await differences(entities);
    if (statements.length === 0) return;
    throw new Error(
      `Entities and migrations differ. Mend the entity, or add a migration that does this:\n${statements.join(';\n')};\n` +
        'Then run: npm run t -- entities migration-rules',
    );
  });

  it('cover every table and view', async () => {
    const { rows } = await database.admin.query<{ relation: string; columns: string[] }>(
      `SELECT table_name AS relation, array_agg(column_name::text ORDER BY column_name) AS columns
         FROM information_schema.columns
        WHERE table_schema = 'public' AND table_name <> ALL ($1) GROUP BY table_name ORDER BY table_name`,
      [WITHOUT_ENTITY],
    );
    const described = await withDataSource(entities, ({ entityMetadatas }) =>
      Promise.resolve(
        entityMetadatas.map(({ tableName, columns }) => ({
          relation: tableName,
          columns: columns.flatMap((one) => (one.isVirtualProperty ? [] : one.databaseName)).sort(),
        })),
      ),
    );
    expect(described.sort((one, other) => (one.relation < other.relation ? -1 : 1))).toEqual(rows);
  });

  it.each([
    ['another type', { n: Column('integer') }],
    ['a null that the table refuses', { n: Column('bigint', { nullable: true }) }],
    ['a default that the table lacks', { n: Column('bigint', { default: 0 }) }],
    ['another primary key', { n: PrimaryColumn('bigint') }],
    ['a column that the table lacks', { m: Column('bigint') }],
    ['no description of a column', { n: undefined }],
  ])('differ when one has %s', async (_, change) => {
    const others = entities.filter((entity) => entity !== FacetCountRow);

    expect(await differences([...others, plantedFacetCount({})])).toEqual([]);
    expect(await differences([...others, plantedFacetCount(change)])).not.toEqual([]);
  });
});

function plantedFacetCount(change: Readonly<Record<string, PropertyDecorator | undefined>>): new () => object {
  class Planted {}
  Entity('facet_count')(Planted);
  const columns = {
    workspace_id: PrimaryColumn('uuid'),
    sub_key: PrimaryColumn('smallint'),
    facet: PrimaryColumn('smallint'),
    n: Column('bigint'),
    ...change,
  };
  for (const [name, decorate] of Object.entries(columns)) decorate?.(Planted.prototype, name);
  return Planted;
}

/** TypeORM's schema builder sends queries at once on one connection, which the next major version of pg refuses. */
function queryInTurn(dataSource: DataSource): void {
  const createQueryRunner = dataSource.createQueryRunner.bind(dataSource);
  dataSource.createQueryRunner = (...mode) => {
    const runner = createQueryRunner(...mode);
    const query = runner.query.bind(runner) as (...statement: unknown[]) => Promise<unknown>;
    let last: Promise<unknown> = Promise.resolve();
    const inTurn = (...statement: unknown[]) => (last = last.catch(() => undefined).then(() => query(...statement)));
    return Object.assign(runner, { query: inTurn as typeof runner.query });
  };
}

/** The expressions of generated columns stand in the migrations alone too: TypeORM would ask a table of its own for them. */
async function describeAsPlain({ admin }: TestDatabase): Promise<void> {
  const { rows } = await admin.query<{ table: string; column: string }>(
    `SELECT table_name AS table, column_name AS column FROM information_schema.columns
      WHERE table_schema = 'public' AND is_generated = 'ALWAYS'`,
  );
  for (const { table, column } of rows) await admin.query(`ALTER TABLE ${table} ALTER ${column} DROP EXPRESSION`);
}
