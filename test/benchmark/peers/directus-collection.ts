import { type WorkspaceId, newestOf } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import type { Client } from 'pg';
import { type AssetDto, toAssetDto } from '../../../libs/inventory/src/assets/http/asset.dto';
import { assetRepositoryOn } from '../../support/asset-repository';
import type { BenchmarkDatabase } from '../benchmark-database';

const BATCH = 1_000;

/** An asset's members as columns of one table, tags and stored data as JSON, so that no join is needed. */
const COLUMNS: Partial<Record<keyof AssetDto, string>> = {
  id: 'uuid PRIMARY KEY',
  name: 'text NOT NULL',
  categoryKey: 'text NOT NULL',
  type: 'text NOT NULL',
  classification: 'text NOT NULL',
  completeStatus: 'text NOT NULL',
  description: 'text',
  ownerId: 'uuid',
  ownerSource: 'text',
  externalId: 'text NOT NULL',
  source: 'text NOT NULL',
  createdAt: 'timestamptz NOT NULL',
  updatedAt: 'timestamptz NOT NULL',
  lastCheckedAt: 'timestamptz',
  tags: 'json NOT NULL',
  dataStored: 'json',
  accountId: 'text',
  region: 'text',
  serialNumber: 'text',
  osVersion: 'text',
  email: 'text',
};

/** Fields of each asset in a response: all of the API's, and the position for the next page. */
export const FIELDS = ['position', ...Object.keys(COLUMNS)];

/** `position` is the order of the list. */
const TABLE = `
  CREATE TABLE assets (
    "workspaceId" uuid NOT NULL, position bigint NOT NULL,
    ${Object.entries(COLUMNS)
      .map(([name, type]) => `"${name}" ${type}`)
      .join(', ')})`;

export const createCollection = (directus: Client): Promise<unknown> => directus.query(TABLE);

/** Copies a workspace's visible assets as the API shows them, in the order of its list. */
export async function copyAssets(from: BenchmarkDatabase, directus: Client, workspace: WorkspaceId): Promise<void> {
  const repository = assetRepositoryOn(new Database(from.api));
  let position = 0;
  for (let after: string | null = null; ;) {
    const page = await repository.list(newestOf(workspace), {}, { size: BATCH, after });
    const rows = page.items.map((asset) => ({
      workspaceId: workspace,
      position: (position += 1),
      ...toAssetDto(asset),
    }));
    await directus.query('INSERT INTO assets SELECT * FROM json_populate_recordset(NULL::assets, $1::json)', [
      JSON.stringify(rows),
    ]);
    after = page.endPosition;
    if (after === null) return;
  }
}

/** Call it once all assets are copied. The list is sorted within a workspace. */
export async function indexCollection(directus: Client): Promise<void> {
  await directus.query('CREATE UNIQUE INDEX assets_in_order ON assets ("workspaceId", position)');
  await directus.query('VACUUM ANALYZE assets');
}
