import type { SchemaPart } from '#libs/platform';
import { AssetsAndFacetCounts1780000000010 } from './migrations/1780000000010-assets-and-facet-counts';

/** The tables of assets, their tags and their counters. */
export const inventorySchema: SchemaPart = {
  migrations: [AssetsAndFacetCounts1780000000010],
  grants: [
    { table: 'tag_key', privileges: 'SELECT' },
    { table: 'asset', privileges: 'SELECT' },
    { table: 'asset_tag', privileges: 'SELECT' },
    { table: 'computer', privileges: 'SELECT' },
    { table: 'facet_count', privileges: 'SELECT' },
  ],
};
