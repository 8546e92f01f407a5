import { DataSource } from 'typeorm';
import type { Client } from 'pg';
import { type WorkspaceId, workspaceId } from '#libs/kernel';
import { dataSourceOptions } from '../../libs/platform/src/database/connections/data-source';
import { DEMO_SIZES } from '../../libs/inventory/src/imports/domain/demo-inventory';
import { ASSET_FILTERS } from '../support/asset-filters';
import { loadDemoAssets } from '../support/demo-assets';
import { type Plan, buffersOf, explainPage } from '../support/page-plan';
import { type TestDatabase, createTestDatabase } from '../support/test-database';

const PAGE = 25;
/** The filter that merges the most facets reads 75 buffers and 491 rows. */
const MOST_BUFFERS = 100;
const MOST_ROWS = 600;
/** A list of types merges the facets of each. Four of five categories read 215. */
const MOST_BUFFERS_OF_TYPES = 300;
const MOST_ROWS_OF_TYPES = 1_000;

/** Counts the reads of a page of 25, which do not depend on the machine. */
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

  const nodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)];
  const rowsRead = (plan: Plan): number =>
    nodes(plan)
      .filter((node) => node['Node Type'].includes('Scan'))
      .reduce(
        (sum, node) => sum + node['Actual Loops'] * (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)),
        0,
      );
  /** A position with less than one page behind it. */
  const lastPosition = async (admin: Client): Promise<string> => {
    const { rows } = await admin.query<{ id: string }>('SELECT id::text FROM asset ORDER BY id DESC OFFSET 20 LIMIT 1');
    return rows[0]?.id as string;
  };

  it.each(ASSET_FILTERS.map((filter) => [JSON.stringify(filter), filter] as const))(
    'reads few buffers and rows, first or last, with the filter %s',
    async (_, filter) => {
      const last = await lastPosition(database.admin);
      const hasTypes = filter.categoryKeyAnyOf !== undefined || filter.subKeyAnyOf !== undefined;
      for (const after of [null, last]) {
        const plan = await explainPage(api, workspace, filter, { size: PAGE, after });
        expect(buffersOf(plan)).toBeLessThanOrEqual(hasTypes ? MOST_BUFFERS_OF_TYPES : MOST_BUFFERS);
        expect(rowsRead(plan)).toBeLessThanOrEqual(hasTypes ? MOST_ROWS_OF_TYPES : MOST_ROWS);
        expect(nodes(plan).map((node) => node['Node Type'])).not.toContain('Seq Scan');
      }
    },
  );
});
