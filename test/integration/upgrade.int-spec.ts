import { AssetCounters } from '#libs/inventory/operators';
import { workspaceId } from '#libs/kernel';
import { Database, type SchemaPart, migrate } from '#libs/platform/database';
import { COMPUTER, EMPLOYEE } from '../../libs/inventory/src/assets/typeorm/asset.row';
import { postureOf } from '../../libs/inventory/src/assets/typeorm/computer.row';
import { FillCountsAndPostures1780000000042 } from '../../libs/inventory/src/assets/typeorm/migrations/1780000000042-fill-counts-and-postures';
import { operatorDataSource } from '../support/database-connection';
import { startAppOn } from '../support/start-app';
import { type TestDatabase, addWorkspace, createTestDatabase, testSchema } from '../support/test-database';

/** Every migration before it is part of the last release. */
const FIRST_UNRELEASED = 1_780_000_000_030;
const ASSETS = 600;
/** They commit batch by batch, so an interrupted one begins again. */
const REPEATABLE = [FillCountsAndPostures1780000000042.name];

/** Rows of a workspace as the last release left them: every type, hidden and deleted ones, owners, tags and computers. */
const fill = (workspace: string): string => `
  SELECT set_config('app.workspace_id', '${workspace}', false);
  INSERT INTO asset (workspace_id, source, external_id, sub_key, visibility, classification, description, name, last_checked_at)
  SELECT '${workspace}', (ARRAY['aws', 'mdm', 'hr'])[1 + i % 3], 'x-' || i, 1 + i % 15, CASE WHEN i % 7 = 0 THEN 1 + i % 2 ELSE 0 END,
         i % 4, CASE WHEN i % 5 < 2 THEN 'kept' END, 'name ' || i % 9, CASE WHEN i % 4 > 0 THEN now() - i * interval '1 hour' END
    FROM generate_series(1, ${ASSETS}) AS i;
  UPDATE asset SET owner_source = 3, owner_id = (
    SELECT public_id FROM asset AS employee
     WHERE workspace_id = '${workspace}' AND sub_key = ${EMPLOYEE} ORDER BY id OFFSET asset.id % 10 LIMIT 1)
   WHERE workspace_id = '${workspace}' AND sub_key <> ${EMPLOYEE} AND id % 4 > 0;
  INSERT INTO computer (workspace_id, asset_id, managed, antivirus_installed, screen_lock_enabled)
  SELECT workspace_id, id, id % 2 = 0, (ARRAY[true, false, null])[1 + id % 3], id % 4 = 0
    FROM asset WHERE workspace_id = '${workspace}' AND sub_key = ${COMPUTER} AND id % 8 > 0;
  INSERT INTO tag_key (workspace_id, key, platform) SELECT '${workspace}', 'k' || i, true FROM generate_series(1, 3) AS i;
  INSERT INTO asset_tag (workspace_id, asset_id, tag_key_id)
  SELECT workspace_id, asset.id, tag_key.id FROM asset JOIN tag_key USING (workspace_id)
   WHERE workspace_id = '${workspace}' AND (asset.id + tag_key.id) % 2 = 0`;

describe('An upgrade from the last release', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase({ migrated: false });
  });
  afterEach(() => database.drop());
  const bringTo = (schema: readonly SchemaPart[]) => {
    const { databaseUrl, migrationDatabaseUrl } = database;
    return migrate({ migrationDatabaseUrl, databaseUrl, schema });
  };

  it('counts and lists what was there before, once', async () => {
    const { admin } = database;
    await bringTo(before(FIRST_UNRELEASED));
    const { rows: workspaces } = await admin.query<{ id: string }>(
      `INSERT INTO workspace (slug, name) VALUES ('acme', 'Acme'), ('globex', 'Globex') RETURNING id`,
    );
    for (const { id } of workspaces) await admin.query(fill(id));

    await bringTo(testSchema);
    await admin.query('DELETE FROM migration WHERE name = ANY ($1)', [REPEATABLE]);
    expect((await bringTo(testSchema)).applied.toSorted()).toEqual(REPEATABLE.toSorted());

    const operator = await operatorDataSource(database);
    try {
      const reconciled = new Database(operator);
      for (const { id } of workspaces) {
        const { assets, ...assetCounters } = await new AssetCounters(reconciled).reconcile(workspaceId(id));
        expect(assets).toBeGreaterThan(ASSETS / 2);
        expect(assetCounters).toEqual({ wrong: [], wrongValues: [], wrongComputers: 0 });
      }
      const { rows: counts } = await admin.query<Record<string, number>>(`
        SELECT (SELECT count(*)::int FROM asset JOIN computer ON asset_id = asset.id
                 WHERE posture = ${postureOf('computer')} AND posture > 0) AS computers,
               (SELECT sum(n)::int FROM source_count) AS brought, (SELECT sum(n)::int FROM tag_count) AS tagged`);
      expect(Math.min(...Object.values(counts[0] ?? {}))).toBeGreaterThan(50);
      // The history begins with the migration: every state has a time, none of them later.
      const { rows: histories } = await admin.query<{ begun: boolean }>(`
        SELECT DISTINCT history_begins_at BETWEEN changed_at AND clock_timestamp() AS begun
          FROM workspace JOIN asset ON workspace_id = workspace.id
          LEFT JOIN change_set ON change_set.workspace_id = asset.workspace_id AND change_set.id = change_id`);
      expect(histories).toEqual([{ begun: true }]);
    } finally {
      await operator.destroy();
    }
  });

  it('names no author of the states that were there before', async () => {
    await bringTo(before(FIRST_UNRELEASED));
    const workspace = await addWorkspace(database.admin);
    await database.admin.query(fill(workspace));
    await bringTo(testSchema);

    const app = await startAppOn(database);
    try {
      const client = await app.arrange.aClient(workspace);
      const { results: assets } = await client.page('/v1/inventory/assets', { categoryKey: 'CLOUD', pageSize: '1' });
      const path = `/v1/inventory/assets/${String(assets[0]?.['id'])}`;
      expect((await client.patch(path, { description: 'later' })).status).toBe(200);
      const { results } = await client.page(`${path}/history`);
      expect(results).toMatchObject([{ origin: { type: 'API' } }, { origin: null, changedFields: [] }]);
    } finally {
      await app.stop();
    }
  });
});

/** The migrations below this number. */
const before = (limit: number): SchemaPart[] => {
  const migrations = testSchema.flatMap((part) => part.migrations).filter((one) => numberOf(one) < limit);
  return [{ migrations, grants: [], entities: [] }];
};
const numberOf = ({ name }: { readonly name: string }): number => Number(name.slice(-13));
