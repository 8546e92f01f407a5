import { DataSource } from 'typeorm';
import type { Client } from 'pg';
import { type WorkspaceId, workspaceId } from '#libs/kernel';
import { type BoundStatement, type Database } from '#libs/platform';
import { dataSourceOptions } from '../../libs/platform/src/database/data-source';
import { DEMO_SIZES } from '../../libs/inventory/src/domain/demo-inventory';
import { ASSET_FILTERS } from '../support/asset-filters';
import { assetRepositoryOn } from '../support/asset-repository';
import { loadDemoAssets } from '../support/demo-assets';
import { type TestDatabase, createTestDatabase } from '../support/test-database';

const PAGE = 25;
/** The filter that merges the most facets reads 75 buffers and 491 rows. */
const MOST_BUFFERS = 100;
const MOST_ROWS = 600;

interface Plan {
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Node Type': string;
  readonly Plans?: readonly Plan[];
}

/** What a page of 25 reads, wherever it is: counts that do not depend on the machine. */
describe('A page of a large inventory', () => {
  let database: TestDatabase;
  let workspace: WorkspaceId;
  let api: DataSource;
  beforeAll(async () => {
    database = await createTestDatabase();
    const { rows } = await database.admin.query<{ id: string }>(
      `INSERT INTO workspace (slug, name) VALUES ('large', 'Large') RETURNING id`,
    );
    workspace = workspaceId((rows[0] as { id: string }).id);
    const operator = new DataSource(
      dataSourceOptions({ url: database.migrationDatabaseUrl, poolSize: 2, patience: 'operator' }, () => undefined),
    );
    await operator.initialize();
    await loadDemoAssets(operator, workspace, DEMO_SIZES.M, () => undefined);
    await operator.destroy();
    await database.admin.query('VACUUM ANALYZE');
    api = await new DataSource(
      dataSourceOptions({ url: database.databaseUrl, poolSize: 1, patience: 'request' }, () => undefined),
    ).initialize();
  });
  afterAll(async () => {
    await api.destroy();
    await database.drop();
  });

  /** The statement that a page is, as the adapter would send it. */
  const statementOf = async (filter: object, after: string | null): Promise<BoundStatement> => {
    let sent: BoundStatement | undefined;
    const recorder = {
      read: (_scope: unknown, [statement]: BoundStatement[]) => {
        sent = statement;
        return Promise.resolve([[]]);
      },
    } as unknown as Database;
    await assetRepositoryOn(recorder).list(workspace, filter, { size: PAGE, after });
    if (!sent) throw new Error('Nothing was sent.');
    return sent;
  };

  const explain = async ({ text, values }: BoundStatement): Promise<Plan> => {
    const literals = values.map((value) => (value === null ? 'NULL' : `'${value}'`)).join(', ');
    const runner = api.createQueryRunner();
    try {
      await runner.startTransaction();
      await runner.query(`SELECT set_config('app.workspace_id', $1, true)`, [workspace]);
      await runner.query(`PREPARE page AS ${text}`);
      const rows = (await runner.query(
        `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE page(${literals})`,
      )) as { 'QUERY PLAN': [{ Plan: Plan }] }[];
      await runner.query('DEALLOCATE page');
      await runner.commitTransaction();
      return (rows[0] as { 'QUERY PLAN': [{ Plan: Plan }] })['QUERY PLAN'][0].Plan;
    } finally {
      await runner.release();
    }
  };
  const nodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)];
  const rowsRead = (plan: Plan): number =>
    nodes(plan)
      .filter((node) => node['Node Type'].includes('Scan'))
      .reduce(
        (sum, node) => sum + node['Actual Loops'] * (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)),
        0,
      );
  /** So far in that less than a page follows. */
  const lastPosition = async (admin: Client): Promise<string> => {
    const { rows } = await admin.query<{ id: string }>('SELECT id::text FROM asset ORDER BY id DESC OFFSET 20 LIMIT 1');
    return rows[0]?.id as string;
  };

  it.each(ASSET_FILTERS.map((filter) => [JSON.stringify(filter), filter] as const))(
    'reads few buffers and rows, first or last, with the filter %s',
    async (_, filter) => {
      const last = await lastPosition(database.admin);
      for (const after of [null, last]) {
        const plan = await explain(await statementOf(filter, after));
        expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThanOrEqual(MOST_BUFFERS);
        expect(rowsRead(plan)).toBeLessThanOrEqual(MOST_ROWS);
        expect(nodes(plan).map((node) => node['Node Type'])).not.toContain('Seq Scan');
      }
    },
  );
});
