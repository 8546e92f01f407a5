import { randomUUID } from 'node:crypto';
import { type Client } from 'pg';
import { DataSource } from 'typeorm';
import { type WorkspaceId, workspaceId } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { dataSourceOptions } from '../../libs/platform/src/database/connections/data-source';
import { type Asset, CLASSIFICATIONS, OWNER_SOURCES } from '../../libs/inventory/src/assets/domain/asset';
import { ASSET_TYPES } from '../../libs/inventory/src/assets/domain/asset-category';
import { assetRepositoryContract } from '../../libs/inventory/src/assets/domain/asset-repository.contract';
import { assetRepositoryOn } from '../support/asset-repository';
import { type TestDatabase, createTestDatabase } from '../support/test-database';

describe('The Postgres asset repository', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let api: Database;

  beforeAll(async () => {
    database = await createTestDatabase();
    // A pool of one: nothing may take a second connection while it holds the first.
    dataSource = new DataSource(
      dataSourceOptions({ url: database.databaseUrl, poolSize: 1, patience: 'request' }, () => undefined),
    );
    await dataSource.initialize();
    api = new Database(dataSource);
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  assetRepositoryContract(async () => ({
    repository: assetRepositoryOn(api),
    workspaceId: await aWorkspace(),
    otherWorkspaceId: await aWorkspace(),
    add: (workspace, assets) => insert(database.admin, workspace, assets),
    addTagKey: async (workspace, { key, value, platform }) => {
      const values = [workspace, key, value, platform];
      await database.admin.query(
        'INSERT INTO tag_key (workspace_id, key, value, platform) VALUES ($1, $2, $3, $4)',
        values,
      );
    },
    unitOfWork: (workspace, work) => api.unitOfWork({ workspaceId: workspace }, work),
  }));

  async function aWorkspace(): Promise<WorkspaceId> {
    const { rows } = await database.admin.query<{ id: string }>(
      `INSERT INTO workspace (slug, name) VALUES ('w-' || $1, 'W') RETURNING id`,
      [randomUUID().slice(0, 8)],
    );
    return workspaceId((rows[0] as { id: string }).id);
  }
});

async function insert(client: Client, workspace: WorkspaceId, assets: readonly Asset[]): Promise<void> {
  await client.query(`SELECT set_config('app.workspace_id', $1, false)`, [workspace]);
  for (const asset of assets) {
    await client.query(
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
    await client.query(
      `INSERT INTO asset_tag (workspace_id, asset_id, tag_key_id)
       SELECT $1, asset.id, tag_key.id FROM asset JOIN tag_key USING (workspace_id)
        WHERE asset.workspace_id = $1 AND public_id = $2 AND key = ANY ($3)`,
      [workspace, asset.id, asset.tags.map(({ key }) => key)],
    );
  }
}
