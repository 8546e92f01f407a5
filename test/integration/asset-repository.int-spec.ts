import { randomUUID } from 'node:crypto';
import { type Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { type AssetId, type WorkspaceId, applicationId, assetId, newestOf } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { type Asset, CLASSIFICATIONS, OWNER_SOURCES } from '../../libs/inventory/src/assets/domain/asset';
import { ASSET_TYPES } from '../../libs/inventory/src/assets/domain/asset-category';
import { type AssetFilter, isConsistent } from '../../libs/inventory/src/assets/domain/asset-filter';
import { applyPatch } from '../../libs/inventory/src/assets/domain/asset-patch';
import type { TagKey } from '../../libs/inventory/src/tag-keys/domain/tag-key';
import type {
  AssetRepository,
  AssetUpdate,
  LockedAssets,
} from '../../libs/inventory/src/assets/domain/asset-repository.port';
import {
  AssetModel,
  HIDDEN_EMPLOYEE,
  TAGS,
  anAssetValue,
  assetsOfEveryKind,
  combinedFilters,
  everyFilter,
} from '../support/asset-model';
import { openDataSource } from '../support/database-connection';
import { assetRepositoryOn } from '../support/asset-repository';
import { type TestDatabase, addWorkspace, createTestDatabase } from '../support/test-database';

describe('The Postgres asset repository', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let api: Database;
  let repository: AssetRepository;
  let here: WorkspaceId;
  let elsewhere: WorkspaceId;
  const assets = assetsOfEveryKind();
  const model = new AssetModel(assets);

  beforeAll(async () => {
    database = await createTestDatabase();
    // A pool of one: nothing may take a second connection while it holds the first.
    dataSource = await openDataSource(database.databaseUrl, 1);
    api = new Database(dataSource);
    repository = assetRepositoryOn(api);
    [here, elsewhere] = [await addWorkspace(database.admin), await addWorkspace(database.admin)];
    for (const workspace of [here, elsewhere]) {
      for (const { key, value } of TAGS) await addTagKey(workspace, { key, value, platform: false });
    }
    for (const workspace of [here, elsewhere]) await insertHiddenEmployee(workspace);
    await insert(database.admin, here, assets);
    await insert(database.admin, elsewhere, assetsOfEveryKind().slice(0, 40));
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  async function addTagKey(workspace: WorkspaceId, { key, value, platform }: Omit<TagKey, 'createdAt'>): Promise<void> {
    await database.admin.query('INSERT INTO tag_key (workspace_id, key, value, platform) VALUES ($1, $2, $3, $4)', [
      workspace,
      key,
      value,
      platform,
    ]);
  }

  async function insertHiddenEmployee(workspace: WorkspaceId): Promise<void> {
    await database.admin.query(`SELECT set_config('app.workspace_id', $1, false)`, [workspace]);
    await database.admin.query(
      `INSERT INTO asset (workspace_id, public_id, source, external_id, sub_key, name, visibility, change_id)
       VALUES ($1, $2, 'contract', 'left', 15, 'Owner', 1, 0)`,
      [workspace, HIDDEN_EMPLOYEE],
    );
  }

  const idsOf = (items: readonly { readonly id: AssetId }[]) => items.map(({ id }) => id);

  /** Walks all pages. */
  const expectSameAsModel = async (filters: readonly AssetFilter[]): Promise<void> => {
    for (const filter of filters) {
      for (let after = { found: null, expected: null } as Record<'found' | 'expected', string | null>; ;) {
        const expected = model.list(filter, { size: 100, after: after.expected });
        const found = await repository.list(newestOf(here), filter, { size: 100, after: after.found });
        if (
          found.totalCount !== expected.totalCount ||
          (found.endPosition === null) !== (expected.endPosition === null) ||
          idsOf(found.items).join() !== idsOf(expected.items).join()
        ) {
          throw new Error(`${JSON.stringify(filter)}: ${found.totalCount} found, ${expected.totalCount} expected`);
        }
        after = { found: found.endPosition, expected: expected.endPosition };
        if (after.found === null) break;
      }
    }
  };

  it('returns the assets of the model in its order, with its total, for every combination of facets', async () => {
    const filters = everyFilter().filter(isConsistent);
    expect(filters.length).toBeGreaterThan(1_000);
    await expectSameAsModel(filters);
  }, 60_000);

  it('returns the assets of the model for every filter, every pair and longer combinations', async () => {
    await expectSameAsModel(combinedFilters().filter(isConsistent));
  }, 60_000);

  it('returns every asset once with any page size', async () => {
    for (const size of [1, 7, 100]) {
      const seen: AssetId[] = [];
      for (let after: string | null = null; ;) {
        const page = await repository.list(newestOf(here), {}, { size, after });
        seen.push(...idsOf(page.items));
        after = page.endPosition;
        if (after === null) break;
      }
      expect(seen).toEqual(idsOf(assets));
    }
  });

  it('finds an end exactly at the last item of a full page', async () => {
    const { totalCount } = await repository.list(newestOf(here), {}, { size: 1, after: null });
    expect(totalCount).toBe(assets.length);
    const twoCustom = { subKey: 'CUSTOM', classification: 'PUBLIC', hasOwner: true } as const;
    const page = await repository.list(newestOf(here), twoCustom, { size: 2, after: null });
    expect([page.items.length, page.endPosition, page.totalCount]).toEqual([2, null, 2]);
  });

  it('returns an asset as it was added, and none of another workspace', async () => {
    const asset = assets[17] as Asset;
    expect(await repository.find(newestOf(here), asset.id)).toEqual(asset);
    expect(await repository.find(newestOf(elsewhere), asset.id)).toBeNull();
    expect(await repository.find(newestOf(here), assetId(randomUUID()))).toBeNull();
  });

  describe('for an update', () => {
    const author = {
      applicationId: applicationId(randomUUID()),
      ...{ clientId: 'ci', requestId: 'request', keyHash: 'hash' },
    };
    const [employee, custom] = [assets[0] as Asset, anAssetValue({ name: 'To be updated' })];
    const foreign = anAssetValue();
    const env = { key: 'stage', value: 'production', platform: false };
    const stack = { key: 'aws:stack', value: null, platform: true };
    const lock = (...updates: AssetUpdate[]): Promise<LockedAssets> =>
      api.unitOfWork({ workspaceId: here }, () => repository.lock(here, updates));

    beforeAll(async () => {
      await insert(database.admin, here, [custom]);
      await insert(database.admin, elsewhere, [foreign]);
      await addTagKey(here, env);
      await addTagKey(here, stack);
      await addTagKey(elsewhere, { ...env, key: 'theirs' });
    });

    it('returns existing assets once each, and none of another workspace', async () => {
      const ids = [custom.id, employee.id, foreign.id, assetId(randomUUID())];
      const { assets: found, employees, tagKeys } = await lock(...ids.map((id) => ({ id, patch: {} })));
      expect(new Set(idsOf(found))).toEqual(new Set([custom.id, employee.id]));
      expect([found.length, employees.size, tagKeys.size]).toEqual([2, 0, 0]);
    });

    it('returns which owners are employees of the workspace, and which tag keys exist', async () => {
      const ownerIds = [employee.id, custom.id, foreign.id, assetId(randomUUID()), null];
      const { employees } = await lock(...ownerIds.map((ownerId) => ({ id: custom.id, patch: { ownerId } })));
      expect([...employees]).toEqual([employee.id]);
      const { tagKeys } = await lock(
        { id: custom.id, patch: { tags: ['stage', 'aws:stack', 'theirs'] } },
        { id: employee.id, patch: { tags: ['x', 'stage'] } },
      );
      expect([...tagKeys.values()]).toHaveLength(2);
      expect([...tagKeys.values()]).toEqual(expect.arrayContaining([env, stack]));
    });

    it('stores what the patch changed', async () => {
      const tags = [{ key: 'stage', value: 'production', readOnly: false }];
      const patch = { ownerId: employee.id, description: 'd', classification: 'PUBLIC', tags } as const;
      const now = new Date('2026-11-02T08:00:00.000Z');
      await api.unitOfWork({ workspaceId: here }, async () => {
        await repository.lock(here, [{ id: custom.id, patch: {} }]);
        await repository.update(here, [applyPatch(custom, patch, now, 'API')], author);
      });
      expect(await repository.find(newestOf(here), custom.id)).toEqual({
        ...custom,
        ...{
          ownerId: employee.id,
          ownerSource: 'API',
          description: 'd',
          classification: 'PUBLIC',
          version: 2,
          updatedAt: now,
        },
        tags,
      });
    });
  });
});

async function insert(admin: Pool, workspace: WorkspaceId, assets: readonly Asset[]): Promise<void> {
  await admin.query(`SELECT set_config('app.workspace_id', $1, false)`, [workspace]);
  for (const asset of assets) {
    await admin.query(
      `INSERT INTO asset (workspace_id, public_id, external_id, sub_key, name, classification, description,
                          owner_id, owner_source, created_at, source, updated_at, serial_number, email, tags, change_id)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 0)`,
      [
        workspace,
        asset.id,
        asset.externalId,
        ASSET_TYPES.indexOf(asset.type) + 1,
        asset.name,
        CLASSIFICATIONS.indexOf(asset.classification),
        asset.description,
        asset.ownerId,
        asset.ownerSource && OWNER_SOURCES.indexOf(asset.ownerSource) + 1,
        asset.createdAt,
        asset.source,
        asset.updatedAt,
        asset.serialNumber,
        asset.email,
        JSON.stringify(asset.tags),
      ],
    );
    await admin.query(
      `INSERT INTO asset_tag (workspace_id, asset_id, tag_key_id)
       SELECT $1, asset.id, tag_key.id FROM asset JOIN tag_key USING (workspace_id)
        WHERE asset.workspace_id = $1 AND public_id = $2 AND key = ANY ($3)`,
      [workspace, asset.id, asset.tags.map(({ key }) => key)],
    );
  }
}
