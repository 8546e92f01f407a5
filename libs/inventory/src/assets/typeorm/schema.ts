import type { SchemaPart } from '#libs/platform/database';
import { AssetsAndFacetCounts1780000000010 } from './migrations/1780000000010-assets-and-facet-counts';
import { CountersSearchPath1780000000013 } from './migrations/1780000000013-counters-search-path';

/** Columns that updates write. All others belong to the asset's source. */
const WRITTEN = 'classification, description, owner_id, owner_source, tags, api_set, version';

export const inventorySchema: SchemaPart = {
  migrations: [AssetsAndFacetCounts1780000000010, CountersSearchPath1780000000013],
  grants: [
    { table: 'tag_key', privileges: 'SELECT' },
    { table: 'asset', privileges: `SELECT, UPDATE (${WRITTEN})` },
    { table: 'asset_tag', privileges: 'SELECT, INSERT, DELETE' },
    { table: 'computer', privileges: 'SELECT' },
    { table: 'facet_count', privileges: 'SELECT' },
  ],
};
