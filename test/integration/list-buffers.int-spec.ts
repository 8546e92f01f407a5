/** @quiet Much that others change empties the cache of the catalogs, and reading them again counts. */
import type { DataSource } from 'typeorm';
import type { Pool } from 'pg';
import { type WorkspaceId, assetId } from '#libs/kernel';
import { bind } from '#libs/platform/database';
import type { ComputerFilter } from '../../libs/computers/src/domain/computer-filter';
import type { AssetFilter } from '../../libs/inventory/src/assets/domain/asset-filter';
import { DAY_COUNTS } from '../../libs/platform/src/changes/day-counts';
import { feedStatement } from '../../libs/platform/src/changes/feed-statement';
import { DEMO_SIZES } from '../../libs/inventory/src/imports/domain/demo-inventory';
import { openDataSource, operatorDataSource } from '../support/database-connection';
import { ASSET_FILTERS, withFacetFilters } from '../support/asset-filters';
import { loadDemoAssets } from '../support/demo-assets';
import { type Plan, buffersOf, explain, explainComputers, explainPage } from '../support/page-plan';
import { type TestDatabase, addWorkspace, createTestDatabase } from '../support/test-database';

const PAGE = 25;
/** The filter that merges the most facets reads 75 buffers and 491 rows. */
const MOST_BUFFERS = 100;
const MOST_ROWS = 600;
/** A list of types merges the facets of each. Four of five categories read 215. */
const MOST_BUFFERS_OF_TYPES = 300;
const MOST_ROWS_OF_TYPES = 1_000;
/** Each computer of a page without filters is looked up by its id, which reads 8 at most. */
const MOST_BUFFERS_OF_COMPUTERS = 300;
/** Each row of a page is found in an index, and looked up by its id. */
const MOST_BUFFERS_BY_ID = 150;
/** A value of few assets. */
const MOST_BUFFERS_OF_FEW = 100;
/** An external id is looked up in each source, which the counters name in 700 rows. */
const MOST_ROWS_OF_FEW = 1_000;

/** Values of one to three assets. */
const RARE = {
  ownerId: assetId('018f9c2e-7d2a-7c41-9a51-000000000001'),
  name: 'Rare',
  source: 'rare',
  externalId: 'rare-1',
};
const RARE_VALUES: readonly AssetFilter[] = [
  { ownerId: RARE.ownerId },
  { tagKey: 'rare' },
  { externalId: RARE.externalId },
  { source: RARE.source },
  { name: RARE.name },
  { serialNumber: RARE.name },
  { email: RARE.name },
];
/** Values that most assets have. */
const COMMON: readonly AssetFilter[] = [{ tagKey: 'env' }, { source: 'demo' }];
/** A change set behind every other one. */
const LARGEST = '9223372036854775807';
const HIDDEN_EMPLOYEE = '018f9c2e-7d2a-7c41-9a51-000000000002';

/** Makes a workspace, whose rows the admin then sees. */
async function openWorkspace(admin: Pool, slug: string): Promise<WorkspaceId> {
  const workspace = await addWorkspace(admin, slug);
  await admin.query(`SELECT set_config('app.workspace_id', $1, false)`, [workspace]);
  return workspace;
}

const nodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)];
/** The part that reads the total, which may count the assets of an owner or text. */
const totalOf = (plan: Plan): Plan => nodes(plan).find((node) => node['Node Type'] === 'Aggregate') as Plan;

/** Counts the reads of a page of 25, which do not depend on the machine. */
describe('A page of a large inventory', () => {
  let database: TestDatabase;
  let workspace: WorkspaceId;
  let api: DataSource;
  beforeAll(async () => {
    database = await createTestDatabase();
    workspace = await openWorkspace(database.admin, 'large');
    const operator = await operatorDataSource(database, 2);
    await loadDemoAssets(operator, workspace, DEMO_SIZES.M, () => undefined);
    await operator.destroy();
    await makeValuesRare(database.admin, workspace);
    await database.admin.query('VACUUM ANALYZE');
    api = await openDataSource(database.databaseUrl);
  });
  afterAll(async () => {
    await api.destroy();
    await database.drop();
  });

  const rowsRead = (plan: Plan): number =>
    nodes(plan)
      .filter((node) => node['Node Type'].includes('Scan'))
      .reduce(
        (sum, node) => sum + node['Actual Loops'] * (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)),
        0,
      );
  /** A position with less than one page behind it. */
  const lastPosition = async (admin: Pool): Promise<string> => {
    const { rows } = await admin.query<{ id: string }>('SELECT id::text FROM asset ORDER BY id DESC OFFSET 20 LIMIT 1');
    return rows[0]?.id as string;
  };

  it.each(RARE_VALUES.map((filter) => [JSON.stringify(filter), filter] as const))(
    'finds the few assets of a value in few buffers, with the filter %s',
    async (_, filter) => {
      for (const other of [{}, { hasDescription: false }]) {
        const plan = await explainPage(api, workspace, { ...filter, ...other }, { size: PAGE, after: null });
        expect(buffersOf(plan)).toBeLessThanOrEqual(MOST_BUFFERS_OF_FEW);
        expect(rowsRead(plan)).toBeLessThanOrEqual(MOST_ROWS_OF_FEW);
      }
    },
  );

  it.each(COMMON.flatMap(withFacetFilters).map((filter) => [JSON.stringify(filter), filter] as const))(
    'counts no assets for the total of a tag key or source, with the filter %s',
    async (_, filter) => {
      const plan = await explainPage(api, workspace, filter, { size: PAGE, after: null });
      expect(nodes(totalOf(plan)).map((node) => node['Relation Name'])).not.toContain('asset');
      expect(nodes(plan).map((node) => node['Node Type'])).not.toContain('Seq Scan');
    },
  );

  it.each([
    { ownerVisible: false },
    { ownerVisible: true },
    { ownerVisible: true, hasDescription: false },
    { ownerVisible: true, categoryKey: 'COMPUTER' },
  ] as const)('counts what employees who left own, and nothing else, with the filter %j', async (filter) => {
    const plan = await explainPage(api, workspace, filter, { size: PAGE, after: null });

    // Of 10,000 assets, most of which have an owner. 33 employees of the demo left.
    expect(rowsRead(totalOf(plan))).toBeLessThanOrEqual(300);
    if (!filter.ownerVisible) expect(rowsRead(plan)).toBeLessThanOrEqual(300);
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

  it('reads few buffers of computers without filters, first or last', async () => {
    for (const after of [null, await lastPosition(database.admin)]) {
      const plan = await explainComputers(api, workspace, {}, { size: PAGE, after });
      expect(buffersOf(plan)).toBeLessThanOrEqual(MOST_BUFFERS_OF_COMPUTERS);
      expect(nodes(plan).map((node) => node['Node Type'])).not.toContain('Seq Scan');
    }
  });

  it('counts the assets and computers of today in few buffers', async () => {
    for (const { countsAt } of Object.values(DAY_COUNTS)) {
      const counted = () => explain(api, workspace, bind(countsAt, [workspace, 'infinity']));
      // The first call of a session reads the function's plan from the catalogs.
      await counted();
      expect(buffersOf(await counted())).toBeLessThanOrEqual(MOST_BUFFERS);
    }
  });

  it.each<readonly [string, ComputerFilter]>([
    ['failingAnyOf', { failingAnyOf: ['ANTIVIRUS'], unknownAnyOf: ['DISK_ENCRYPTION', 'SCREEN_LOCK'] }],
    ['lastCheckedBefore', { lastCheckedBefore: new Date('2026-10-02T09:00:00Z') }],
  ])('counts no other assets than computers, with the filter %s', async (_, filter) => {
    const plan = await explainComputers(api, workspace, filter, { size: PAGE, after: null });
    // Of 10,000 assets. A bitmap reads a computer twice: in the index and in the table.
    expect(rowsRead(totalOf(plan))).toBeLessThanOrEqual(3_500);
  });
});

describe('A page of an inventory whose assets are all alike', () => {
  let database: TestDatabase;
  let api: DataSource;
  beforeAll(async () => {
    database = await createTestDatabase();
    api = await openDataSource(database.databaseUrl);
  });
  afterAll(async () => {
    await api.destroy();
    await database.drop();
  });

  it('reads few buffers for what none of them is', async () => {
    const { admin } = database;
    const workspace = await openWorkspace(admin, 'alike');
    await admin.query(
      `INSERT INTO asset (workspace_id, source, external_id, name, sub_key, change_id, visibility)
       SELECT $1, 'alike', n::text, 'Alike', 13, 0, 0 FROM generate_series(1, 10000) AS n`,
      [workspace],
    );
    await admin.query('VACUUM ANALYZE asset');

    for (const filter of [{ hasOwner: true }, { categoryKey: 'EMPLOYEE' }, { subKey: 'CLOUD_QUEUE' }] as const) {
      const plan = await explainPage(api, workspace, filter, { size: PAGE, after: null });
      expect([filter, buffersOf(plan) <= MOST_BUFFERS]).toEqual([filter, true]);
    }
  });

  it('reads few buffers for the few computers with an owner', async () => {
    const { admin } = database;
    const workspace = await openWorkspace(admin, 'unowned');
    await admin.query(
      `INSERT INTO asset (workspace_id, source, external_id, name, sub_key, change_id, visibility)
       SELECT $1, 'hr', n::text, 'Employee', 15, 0, 0 FROM generate_series(0, 99) AS n`,
      [workspace],
    );
    // All of the other assets have one, and 5 of the computers.
    await admin.query(
      `INSERT INTO asset (workspace_id, source, external_id, name, sub_key, posture, change_id, visibility, owner_id, owner_source)
       SELECT $1, 'mdm', kind || '-' || n, 'Alike', kind, kinds.posture, 0, 0,
              CASE WHEN n % owned = 0 THEN employee.public_id END, CASE WHEN n % owned = 0 THEN 1 END
         FROM generate_series(1, 10000) AS n
        CROSS JOIN (VALUES (12, 161, 2000), (13, NULL, 1)) AS kinds (kind, posture, owned)
         JOIN asset AS employee ON employee.workspace_id = $1 AND employee.external_id = (n % 100)::text`,
      [workspace],
    );
    await admin.query('VACUUM ANALYZE asset');

    const plan = await explainComputers(api, workspace, { ownerVisible: true }, { size: PAGE, after: null });
    expect(buffersOf(plan)).toBeLessThanOrEqual(MOST_BUFFERS);
  });
});

describe('A page of an inventory whose imports came one after the other', () => {
  const ASSETS = 25_000;
  let database: TestDatabase;
  let api: DataSource;
  let workspace: WorkspaceId;
  /** Cloud assets, then so many computers that they are not all read and sorted, then cloud assets again. */
  beforeAll(async () => {
    database = await createTestDatabase();
    api = await openDataSource(database.databaseUrl);
    const { admin } = database;
    workspace = await openWorkspace(admin, 'clustered');
    for (const [source, subKey, posture] of [
      ['cloud', 1, null],
      ['mdm', 12, 161],
      ['later', 1, null],
    ])
      await admin.query(
        `INSERT INTO asset (workspace_id, source, external_id, name, sub_key, posture, change_id, visibility)
         SELECT $1, $2, n::text, 'Clustered', $3, $4, 0, 0 FROM generate_series(1, $5) AS n`,
        [workspace, source, subKey, posture, ASSETS],
      );
    await admin.query('VACUUM ANALYZE');
  }, 60_000);
  afterAll(async () => {
    await api.destroy();
    await database.drop();
  });
  const lastOf = async (source: string): Promise<string> => {
    const { rows } = await database.admin.query<{ id: string }>(
      'SELECT id::text FROM asset WHERE source = $1 ORDER BY id DESC OFFSET 20 LIMIT 1',
      [source],
    );
    return rows[0]?.id as string;
  };

  it.each(['cloud', 'mdm', 'later'])('reads the first and last of the source %s, and no other', async (source) => {
    for (const after of [null, await lastOf(source)]) {
      const plan = await explainPage(api, workspace, { source }, { size: PAGE, after });
      expect(buffersOf(plan)).toBeLessThanOrEqual(MOST_BUFFERS_BY_ID);
    }
  });

  it('reads the first and last computers that a filter finds, and no other assets', async () => {
    for (const filter of [{ isMonitored: true }, { source: 'mdm' }, { isMonitored: true, source: 'mdm' }])
      for (const after of [null, await lastOf('mdm')]) {
        const plan = await explainComputers(api, workspace, filter, { size: PAGE, after });
        const page = buffersOf(plan) - buffersOf(totalOf(plan));
        expect([filter, after, page <= MOST_BUFFERS_BY_ID]).toEqual([filter, after, true]);
      }
  });
});

describe('A page of a feed', () => {
  let database: TestDatabase;
  let api: DataSource;
  let workspace: WorkspaceId;
  /** Two change sets of 10,000 computers each. All of the first one are visible, and ten of the second one. */
  beforeAll(async () => {
    database = await createTestDatabase();
    api = await openDataSource(database.databaseUrl);
    const { admin } = database;
    workspace = await openWorkspace(admin, 'removed');
    for (const visibility of ['0', '(n % 1000 > 0)::int']) {
      await admin.query(
        `INSERT INTO asset (workspace_id, source, external_id, name, sub_key, change_id, visibility)
         SELECT $1, $2, n::text, 'Alike', 12, NULL, ${visibility} FROM generate_series(1, 10000) AS n`,
        [workspace, visibility],
      );
    }
    await admin.query('VACUUM ANALYZE');
  });
  afterAll(async () => {
    await api.destroy();
    await database.drop();
  });

  it.each([
    { relation: 'asset', kind: 'sub_key', removals: 'without', removalsAfter: LARGEST, rows: 10 },
    { relation: 'asset', kind: 'sub_key', removals: 'with', removalsAfter: '0', rows: PAGE },
    { relation: 'changed_computer', kind: 'kind', removals: 'without', removalsAfter: LARGEST, rows: 10 },
    { relation: 'changed_computer', kind: 'kind', removals: 'with', removalsAfter: '0', rows: PAGE },
  ])(
    'reads few buffers of $relation $removals removals, though most of its set was removed',
    async ({ relation, kind, removalsAfter, rows }) => {
      const { rows: sets } = await database.admin.query<{ last: string }>(
        'SELECT max(sequence)::text AS last FROM change_set WHERE workspace_id = $1',
        [workspace],
      );
      const values = [workspace, String(sets[0]?.last), '0', '0', String(PAGE), '0', '32766', removalsAfter, '0'];

      const plan = await explain(api, workspace, bind(feedStatement({ relation, kind, columns: ['id'] }), values));

      // The first row tells where the workspace stands.
      expect(plan['Actual Rows']).toBe(rows + 1);
      expect(buffersOf(plan)).toBeLessThanOrEqual(MOST_BUFFERS);
    },
  );
});

/** One asset or so has each rare value, of which a hidden one has some too. */
async function makeValuesRare(admin: Pool, workspace: WorkspaceId): Promise<void> {
  const insert = `INSERT INTO asset (workspace_id, source, external_id, name, sub_key, change_id, visibility`;
  await admin.query(
    `${insert}, public_id, email) VALUES ($1, 'rare', 'rare-1', 'Rare', 15, 0, 0, '${RARE.ownerId}', 'Rare')`,
    [workspace],
  );
  await admin.query(
    `${insert}, serial_number, owner_id, owner_source, posture)
     SELECT $1, 'rare', 'rare-' || n, 'Rare', 12, 0, n % 2, 'Rare', '${RARE.ownerId}', 3, 0 FROM generate_series(2, 3) AS n`,
    [workspace],
  );
  await admin.query(`${insert}, public_id) VALUES ($1, 'rare', 'rare-4', 'Left', 15, 0, 1, '${HIDDEN_EMPLOYEE}')`, [
    workspace,
  ]);
  await admin.query(
    `${insert}, owner_id, owner_source) VALUES ($1, 'rare', 'rare-5', 'Left behind', 13, 0, 0, '${HIDDEN_EMPLOYEE}', 3)`,
    [workspace],
  );
  await admin.query(`INSERT INTO tag_key (workspace_id, key) VALUES ($1, 'rare')`, [workspace]);
  await admin.query(
    `INSERT INTO asset_tag (workspace_id, asset_id, tag_key_id)
     SELECT $1, asset.id, tag_key.id FROM asset, tag_key WHERE tag_key.workspace_id = $1 AND key = 'rare' AND source = 'rare'`,
    [workspace],
  );
  await admin.query('UPDATE asset SET visibility = 1 WHERE id < (SELECT max(id) / 4 FROM asset) AND sub_key <> 15');
}
