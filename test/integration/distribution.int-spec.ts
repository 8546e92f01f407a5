import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { workspaceId } from '#libs/kernel';
import { migrate } from '#libs/platform/database';
import { ASSET_LIST } from '../../libs/inventory/src/assets/typeorm/asset-list';
import { FIND_ASSET } from '../../libs/inventory/src/assets/typeorm/asset-repository.typeorm';
import { counterFaults } from '../faults/database-faults';
import type { ApiClient } from '../support/api-client';
import { openOperator } from '../support/operator';
import { type TestApp, startAppOn } from '../support/start-app';
import { type TestDatabase, createTestDatabase, testSchema } from '../support/test-database';

/** Small tables, read before the workspace is known: every node has a copy. */
const REFERENCE_TABLES = ['application', 'workspace'];
/** Belongs to no tenant. */
const UNDISTRIBUTED = ['migration'];

describe('Distribution over many machines', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  const rowsOf = async <Row extends object>(sql: string): Promise<Row[]> => (await database.admin.query<Row>(sql)).rows;

  it('works by workspace for every table, because each key, unique index and reference contains it', async () => {
    const tables = await rowsOf<{ name: string; distributed: boolean }>(`
      SELECT relname AS name,
             EXISTS (SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'workspace_id' AND attnotnull)
               AS distributed
        FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`);
    const distributed = tables.filter(({ name }) => ![...REFERENCE_TABLES, ...UNDISTRIBUTED].includes(name));
    expect(distributed.filter((table) => !table.distributed)).toEqual([]);
    expect(distributed.length).toBeGreaterThanOrEqual(9);

    const names = distributed.map(({ name }) => `'${name}'`).join(', ');
    const unique = await rowsOf<{ index: string; columns: string }>(`
      SELECT indexrelid::regclass::text AS index,
             array_to_string(ARRAY(SELECT pg_get_indexdef(indexrelid, place, true)
                                     FROM generate_series(1, indnkeyatts) AS place), ', ') AS columns
        FROM pg_index WHERE indisunique AND indrelid::regclass::text IN (${names})`);
    expect(unique.length).toBeGreaterThanOrEqual(distributed.length);
    expect(unique.filter(({ columns }) => !columns.split(', ').includes('workspace_id'))).toEqual([]);

    const references = await rowsOf<{ from: string; to: string; pairs: string[] }>(`
      SELECT conrelid::regclass::text AS from, confrelid::regclass::text AS to,
             ARRAY(SELECT a.attname || '=' || b.attname FROM unnest(conkey, confkey) AS pair (own, other)
                     JOIN pg_attribute AS a ON a.attrelid = conrelid AND a.attnum = own
                     JOIN pg_attribute AS b ON b.attrelid = confrelid AND b.attnum = other) AS pairs
        FROM pg_constraint WHERE contype = 'f' AND conrelid::regclass::text IN (${names})`);
    const crossing = references.filter(
      ({ to, pairs }) => !REFERENCE_TABLES.includes(to) && !pairs.includes('workspace_id=workspace_id'),
    );
    expect(references.length).toBeGreaterThanOrEqual(5);
    expect(crossing).toEqual([]);
  });

  describe('with partitioned assets', () => {
    let app: TestApp;
    let client: ApiClient;
    let workspace: string;
    const walk = () => client.walk('/v1/inventory/assets', { pageSize: '5' });
    beforeAll(async () => {
      app = await startAppOn(database);
      workspace = await app.arrange.aWorkspace();
      client = await app.arrange.aClient(workspace);
      const owner = await app.arrange.anEmployee(workspace);
      for (let n = 0; n < 12; n += 1) {
        await app.arrange.anAsset(workspace, { type: n % 2 === 0 ? 'COMPUTER' : 'CUSTOM', ownerId: owner.id });
      }
      await app.arrange.aTagKey(workspace, 'env');
    });
    afterAll(() => app.stop());

    it('lists, updates, tags and counts the same assets', async () => {
      const before = await walk();
      const migration = new Client({ connectionString: database.migrationDatabaseUrl });
      await migration.connect();
      await migration.query(readFileSync(join(__dirname, '../../docs/partition-asset.sql'), 'utf8'));
      await migration.end();
      await migrate({ ...database, schema: testSchema });
      expect(await walk()).toEqual(before);
      expect(before).toHaveLength(13);
      expect((await client.walk('/v1/computers', { pageSize: '4' })).length).toBe(6);

      const ids = before.filter(({ type }) => type !== 'EMPLOYEE').map(({ id }) => id as string);
      const body = { description: 'x', tags: [{ key: 'env' }], classification: 'PUBLIC' };
      expect((await client.patch(`/v1/inventory/assets/${ids[0]}`, body)).status).toBe(200);
      const bulk = await client.patch('/v1/inventory/assets', { ids, patch: { description: 'bulk' } });
      expect(bulk.body['successfulUpdates']).toBe(12);
      const operator = await openOperator(app);
      const imported = { fileIndex: 0, line: 1, value: { externalId: 'new', name: 'new', categoryKey: 'CUSTOM' } };
      const options = { source: 'file', files: [], dryRun: false, missing: 'keep', createTagKeys: null } as const;
      const report = await operator.imports.runLines(workspaceId(workspace), options, [imported]);
      expect(report).toMatchObject({ created: 1 });
      await operator.close();
      const { pageInfo } = await client.page('/v1/inventory/assets', { hasDescription: 'true' });
      expect(pageInfo.totalCount).toBe(12);
      expect(await counterFaults(database.admin, workspace)).toEqual([]);
      const stranger = await app.arrange.aClient(await app.arrange.aWorkspace());
      expect((await stranger.page('/v1/inventory/assets')).results).toEqual([]);
    });

    it('keeps indexes, constraints, triggers and policies', async () => {
      const shape = `
        SELECT array_agg(line ORDER BY line) AS lines FROM (
          SELECT indexname || regexp_replace(indexdef, ' ON (ONLY )?', ' ON ') FROM pg_indexes WHERE tablename = 'asset'
          UNION ALL
          SELECT conname || pg_get_constraintdef(oid) FROM pg_constraint
           WHERE (conrelid = 'asset'::regclass OR confrelid = 'asset'::regclass) AND conparentid = 0 AND contype <> 'n'
          UNION ALL
          SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'asset'::regclass AND NOT tgisinternal
          UNION ALL
          SELECT policyname || qual || roles::text FROM pg_policies WHERE tablename = 'asset'
          UNION ALL
          SELECT relrowsecurity::text || relforcerowsecurity FROM pg_class WHERE oid = 'asset'::regclass
          UNION ALL
          SELECT pg_get_viewdef('visible_computer'::regclass)
        ) AS shape (line)`;
      const whole = await createTestDatabase();
      const { rows } = await whole.admin.query<{ lines: string[] }>(shape);
      await whole.drop();
      expect((await rowsOf<{ lines: string[] }>(shape))[0]?.lines).toEqual(rows[0]?.lines);
    });

    it('reads one partition by an index for a list and for one asset', async () => {
      const api = new Client({
        connectionString: database.databaseUrl,
        options: '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off',
      });
      await api.connect();
      await api.query(`SELECT set_config('app.workspace_id', $1, false)`, [workspace]);
      const listText = (cells: readonly (readonly number[] | null)[]): string =>
        ASSET_LIST.statement(workspaceId(workspace), { cells, filters: {} }, { size: 50, after: null }).text;
      const cases = [
        { text: FIND_ASSET.text, values: [`'${workspace}'`, `'${workspace}'`] },
        {
          text: listText([null, null]),
          values: [`'${workspace}'`, `'0'`, `'51'`],
        },
        {
          text: listText([[12], [0]]),
          values: [`'${workspace}'`, `'0'`, `'51'`, `'{12}'`, `'{0}'`, `'12'`, `'0'`],
        },
      ];
      for (const [n, { text, values }] of cases.entries()) {
        await api.query(`PREPARE s${n} AS ${text}`);
        const plan = await api.query<{ 'QUERY PLAN': string }>(`EXPLAIN EXECUTE s${n} (${values.join(', ')})`);
        const lines = plan.rows.map((row) => row['QUERY PLAN']);
        const scanned = new Set(lines.flatMap((line) => /Scan.* on (asset_\d+)/.exec(line)?.[1] ?? []));
        expect([n, scanned.size, lines.filter((line) => /Seq Scan on asset/.test(line))]).toEqual([n, 1, []]);
      }
      await api.end();
    });
  });
});
