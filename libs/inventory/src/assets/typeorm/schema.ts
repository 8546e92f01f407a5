import type { SchemaPart } from '#libs/platform/database';
import { TagCountRow, TagKeyRow } from '../../tag-keys/typeorm/tag-key.row';
import { AssetRow, AssetTagRow, WRITTEN_COLUMNS } from './asset.row';
import { ComputerRow } from './computer.row';
import { AssetVersionRow, FormerAssetRow, KnownAssetRow } from './former-asset.row';
import { FacetCountRow, SourceCountRow } from './counts.row';
import { AssetsAndFacetCounts1780000000010 } from './migrations/1780000000010-assets-and-facet-counts';
import { CountsAndViews1780000000041 } from './migrations/1780000000041-counts-and-views';
import { FillCountsAndPostures1780000000042 } from './migrations/1780000000042-fill-counts-and-postures';
import { CountersSearchPath1780000000013 } from './migrations/1780000000013-counters-search-path';
import { AssetChanges1780000000031 } from './migrations/1780000000031-asset-changes';
import { EmptyChangeSets1780000000043 } from './migrations/1780000000043-empty-change-sets';
import { AssetIndexes1780000000058 } from './migrations/1780000000058-asset-indexes';
import { EmployeeEmails1780000000085 } from './migrations/1780000000085-employee-emails';
import { VisibleOwners1780000000092 } from './migrations/1780000000092-visible-owners';
import { HiddenEmployeeRow, VisibleOwnerRow } from './visible-owner.row';
import { AssetVersions1780000000096 } from './migrations/1780000000096-asset-versions';
import { HiddenEmployees1780000000125 } from './migrations/1780000000125-hidden-employees';
import { CellStatistics1780000000134 } from './migrations/1780000000134-cell-statistics';

/** Columns that updates write. */
const WRITTEN = [
  ...WRITTEN_COLUMNS.map(({ column }) => column),
  ...['api_set', 'version', 'change_id', 'updated_at'],
].join(', ');

const SHARED_GRANTS: SchemaPart['grants'] = [
  { function: 'tag_key_named' },
  { function: 'asset_counts_at' },
  { function: 'computer_counts_at' },
  { table: 'asset', privileges: `SELECT, UPDATE (${WRITTEN})` },
  { table: 'asset_tag', privileges: 'SELECT, INSERT, DELETE' },
  ...[
    ...['tag_key', 'asset_version', 'computer', 'facet_count', 'tag_count', 'source_count'],
    ...['visible_owner', 'hidden_employee'],
  ].map((table) => ({ table, privileges: 'SELECT' })),
];

export const inventorySchema: SchemaPart = {
  entities: [
    TagKeyRow,
    AssetRow,
    AssetTagRow,
    AssetVersionRow,
    ComputerRow,
    FacetCountRow,
    TagCountRow,
    SourceCountRow,
    VisibleOwnerRow,
    FormerAssetRow,
    KnownAssetRow,
    HiddenEmployeeRow,
  ],
  migrations: [
    AssetsAndFacetCounts1780000000010,
    CountersSearchPath1780000000013,
    AssetChanges1780000000031,
    CountsAndViews1780000000041,
    FillCountsAndPostures1780000000042,
    EmptyChangeSets1780000000043,
    AssetIndexes1780000000058,
    EmployeeEmails1780000000085,
    VisibleOwners1780000000092,
    AssetVersions1780000000096,
    HiddenEmployees1780000000125,
    CellStatistics1780000000134,
  ],
  grants: [
    { function: 'mark_empty_change_sets' },
    { function: 'days_to_count' },
    { function: 'forget_versions' },
    { table: 'former_asset', privileges: 'SELECT' },
    { table: 'known_asset', privileges: 'SELECT' },
    ...SHARED_GRANTS,
  ],
  // The console reads and writes what the API does, as it is now.
  consoleGrants: SHARED_GRANTS,
};
