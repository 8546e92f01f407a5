import { DataSource } from 'typeorm';
import type { Client } from 'pg';
import { type WorkspaceId, assetId, workspaceId } from '#libs/kernel';
import { dataSourceOptions } from '../../libs/platform/src/database/connections/data-source';
import { DEMO_SIZES } from '../../libs/inventory/src/imports/domain/demo-inventory';
import { ASSET_FILTERS, FILTERS_WITHOUT_TYPES, withFacetFilters } from '../support/asset-filters';
import { COMBINED_POSTURES, COMPUTER_FILTERS } from '../support/computer-filters';
import { loadDemoAssets } from '../support/demo-assets';
import { type Plan, buffersOf, explainComputers, explainPage } from '../support/page-plan';
import { type TestDatabase, createTestDatabase } from '../support/test-database';

const PAGE = 25;
/** The filter that merges the most facets reads 75 buffers and 491 rows. */
const MOST_BUFFERS = 100;
const MOST_ROWS = 600;
/** A list of types merges the facets of each. Four of five categories read 215. */
const MOST_BUFFERS_OF_TYPES = 300;
const MOST_ROWS_OF_TYPES = 1_000;
/** The owner of all assets that have one. */
const OWNER = assetId('018f9c2e-7d2a-7c41-9a51-000000000001');

/** Values that most assets have. */
const OWNED = { ownerId: OWNER };
const KEYS = [{ tagKey: 'env' }, { source: 'demo' }];
/** Their indexes do not know the types. */
const TEXTS = [{ name: 'Shared' }, { serialNumber: 'Shared' }, { email: 'Shared' }];

/** Each computer of a page is looked up by its id, which reads 8 at most. */
const MOST_BUFFERS_OF_COMPUTERS = 300;
/** Postures together read a branch for each one that occurs. */
const MOST_BUFFERS_OF_POSTURES = 500;

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
    await makeValuesCommon(database.admin, workspace);
    await database.admin.query('VACUUM ANALYZE');
    api = await new DataSource(
      dataSourceOptions({ url: database.databaseUrl, poolSize: 1, patience: 'request' }, () => undefined),
    ).initialize();
  });
  afterAll(async () => {
    await api.destroy();
    await database.drop();
  });

  /** The part that reads the total, which may count the assets of an owner or text. */
  const totalOf = (plan: Plan): Plan => nodes(plan).find((node) => node['Node Type'] === 'Aggregate') as Plan;
  const nodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)];
  const rowsRead = (plan: Plan): number =>
    nodes(plan)
      .filter((node) => node['Node Type'].includes('Scan'))
      .reduce(
        (sum, node) => sum + node['Actual Loops'] * (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)),
        0,
      );
  const middlePosition = async (admin: Client): Promise<string> => {
    const { rows } = await admin.query<{ id: string }>('SELECT (max(id) / 2)::text AS id FROM asset');
    return rows[0]?.id as string;
  };
  /** A position with less than one page behind it. */
  const lastPosition = async (admin: Client): Promise<string> => {
    const { rows } = await admin.query<{ id: string }>('SELECT id::text FROM asset ORDER BY id DESC OFFSET 20 LIMIT 1');
    return rows[0]?.id as string;
  };

  it.each([OWNED, ...KEYS.flatMap(withFacetFilters)].map((filter) => [JSON.stringify(filter), filter] as const))(
    'reads few buffers and counts no assets for a value of most, first, middle or last, with the filter %s',
    async (_, filter) => {
      for (const after of [null, await middlePosition(database.admin), await lastPosition(database.admin)]) {
        const plan = await explainPage(api, workspace, filter, { size: PAGE, after });
        expect(buffersOf(plan)).toBeLessThanOrEqual(MOST_BUFFERS_OF_TYPES);
        expect(rowsRead(plan)).toBeLessThanOrEqual(MOST_ROWS_OF_TYPES);
        expect(nodes(plan).map((node) => node['Node Type'])).not.toContain('Seq Scan');
      }
    },
  );

  it.each(
    [
      ...withFacetFilters(OWNED),
      ...TEXTS.flatMap((text) => [text, ...FILTERS_WITHOUT_TYPES.map((other) => ({ ...text, ...other }))]),
    ].map((filter) => [JSON.stringify(filter), filter] as const),
  )(
    'reads few buffers beside the total for a value of most, first, middle or last, with the filter %s',
    async (_, filter) => {
      for (const after of [null, await middlePosition(database.admin), await lastPosition(database.admin)]) {
        const plan = await explainPage(api, workspace, filter, { size: PAGE, after });
        const total = totalOf(plan);
        expect(buffersOf(plan) - buffersOf(total)).toBeLessThanOrEqual(MOST_BUFFERS_OF_TYPES);
        expect(rowsRead(plan) - rowsRead(total)).toBeLessThanOrEqual(MOST_ROWS_OF_TYPES);
        expect(nodes(plan).map((node) => node['Node Type'])).not.toContain('Seq Scan');
      }
    },
  );

  it('looks up an external id once per source', async () => {
    const { rows } = await database.admin.query<{ id: string }>('SELECT max(external_id) AS id FROM asset');
    const filter = { externalId: rows[0]?.id as string };
    const plan = await explainPage(api, workspace, filter, { size: PAGE, after: null });
    expect(plan['Actual Rows']).toBe(1);
    expect(buffersOf(plan)).toBeLessThanOrEqual(MOST_BUFFERS);
  });

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

  it.each([...COMPUTER_FILTERS, ...COMBINED_POSTURES].map((filter) => [JSON.stringify(filter), filter] as const))(
    'reads few buffers of computers, first or last, with the filter %s',
    async (_, filter) => {
      const most = COMPUTER_FILTERS.includes(filter) ? MOST_BUFFERS_OF_COMPUTERS : MOST_BUFFERS_OF_POSTURES;
      const last = await lastPosition(database.admin);
      for (const after of [null, last]) {
        const plans = await explainComputers(api, workspace, filter, { size: PAGE, after });
        expect(plans.reduce((sum, plan) => sum + buffersOf(plan), 0)).toBeLessThanOrEqual(most);
        expect(plans.flatMap(nodes).map((node) => node['Node Type'])).not.toContain('Seq Scan');
      }
    },
  );
});

/** One name, serial number, e-mail address and tag key for all assets, and one owner for all that have one. Many are hidden and in front of the others. */
async function makeValuesCommon(admin: Client, workspace: WorkspaceId): Promise<void> {
  await admin.query(`SELECT set_config('app.workspace_id', $1, false)`, [workspace]);
  await admin.query(
    `UPDATE asset SET public_id = $1 WHERE id = (SELECT min(id) FROM asset WHERE sub_key = 15 AND owner_id IS NULL
        AND NOT EXISTS (SELECT FROM asset AS owned WHERE owned.owner_id = asset.public_id))`,
    [OWNER],
  );
  await admin.query('UPDATE asset SET owner_id = $1 WHERE owner_id IS NOT NULL', [OWNER]);
  await admin.query(`UPDATE asset SET name = 'Shared', serial_number = CASE WHEN sub_key = 12 THEN 'Shared' END,
                          email = CASE WHEN sub_key = 15 THEN 'Shared' END`);
  await admin.query(
    `INSERT INTO asset_tag (workspace_id, asset_id, tag_key_id)
     SELECT $1, asset.id, tag_key.id FROM asset, tag_key WHERE tag_key.workspace_id = $1 AND key = 'env'
         ON CONFLICT DO NOTHING`,
    [workspace],
  );
  await admin.query('UPDATE asset SET visibility = 1 WHERE id < (SELECT max(id) / 4 FROM asset) AND sub_key <> 15');
}
