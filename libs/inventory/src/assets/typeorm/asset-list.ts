import {
  type ListRange,
  type WantedCells,
  type WantedRows,
  anyOf,
  equals,
  equalsText,
  listOf,
  ownerFilters,
  ownerFiltersOf,
} from '#libs/platform/lists';
import { ASSET_TYPES } from '../domain/asset-category';
import { type AssetFilter, FACETS, facetsOf, typesOf } from '../domain/asset-filter';
import {
  ASSET_COLUMNS,
  EXPANDED_ASSET_COLUMNS,
  LAST_CLOUD,
  emailIs,
  subKeyOf,
  toAsset,
  toExpandedAsset,
} from './asset.row';

const tagKeyIs = (value: string): string => `tag_key_id = tag_key_named($1, ${value})`;

/** An external id is unique within a source. */
const SOURCES = '(SELECT DISTINCT source FROM source_count WHERE workspace_id = $1)';

const OWNED = FACETS.flatMap(({ hasOwner }, facet) => (hasOwner ? [facet] : []));
const ASSETS = {
  relation: 'asset',
  visible: 'facet IS NOT NULL',
  cells: { columns: ['sub_key', 'facet'], counter: 'facet_count', ranges: rangesOf },
};

/** The visible assets. `sub_key` and `facet` are cells; each filter has an index of its own (docs/decisions/0009). */
export const ASSET_LIST = listOf({
  ...ASSETS,
  name: 'asset_list',
  columns: ASSET_COLUMNS,
  toItem: toAsset,
  filters: {
    ids: anyOf('public_id', 'uuid[]'),
    ownerId: equals('owner_id', 'uuid'),
    ...ownerFilters({ ...ASSETS, hasOwner: `facet IN (${OWNED.join(', ')})` }),
    tagKey: {
      condition: (value) => `EXISTS (
        SELECT FROM asset_tag WHERE workspace_id = $1 AND asset_id = asset.id AND ${tagKeyIs(value)})`,
      counter: {
        table: 'tag_count',
        key: 'tag_key_id',
        condition: tagKeyIs,
        counted: `asset_tag JOIN asset ON asset.workspace_id = $1 AND asset.id = asset_id
                   WHERE asset_tag.workspace_id = $1 AND facet IS NOT NULL`,
        shown: 'SELECT key FROM tag_key WHERE workspace_id = $1 AND id = tag_key_id',
      },
    },
    externalId: { condition: (value) => `external_id = ${value} AND source = ANY (ARRAY${SOURCES})` },
    source: { ...equals('source'), counter: { table: 'source_count', key: 'source' } },
    serialNumber: equalsText('serial_number'),
    email: { condition: emailIs },
    name: equalsText('name'),
  },
});

/** The same assets, each with its owner. */
export const EXPANDED_ASSET_LIST = listOf({
  ...ASSET_LIST.declared,
  columns: EXPANDED_ASSET_COLUMNS,
  toItem: toExpandedAsset,
});

/** The list's own conditions for a filter. */
export const wantedAssets = (filter: AssetFilter): WantedRows<keyof typeof ASSET_LIST.declared.filters> => ({
  cells: [
    someOf(typesOf(filter).map(subKeyOf), ASSET_TYPES.length),
    someOf(
      facetsOf(filter).map((facet) => FACETS.indexOf(facet)),
      FACETS.length,
    ),
  ],
  filters: { ...filter, ...ownerFiltersOf(filter.ownerVisible) },
});

const someOf = (codes: readonly number[], all: number): readonly number[] | null =>
  codes.length === all ? null : codes;

/** One range serves all assets, one all of a facet, and one all cloud assets of a facet. */
function rangesOf(...[subKeys, facets]: WantedCells): ListRange[] | null {
  if (!subKeys && !facets) return null;
  const wanted = facets ?? FACETS.map((_, facet) => facet);
  const ofFacets = wanted.map((facet) => [facet]);
  if (!subKeys) return [{ condition: 'facet = ?', values: ofFacets }];
  const hasCloud = subKeys.filter((subKey) => subKey <= LAST_CLOUD).length === LAST_CLOUD;
  const single = hasCloud ? subKeys.filter((subKey) => subKey > LAST_CLOUD) : subKeys;
  return [
    { condition: `sub_key <= ${LAST_CLOUD} AND facet = ?`, values: hasCloud ? ofFacets : [] },
    {
      condition: 'sub_key = ? AND facet = ?',
      values: single.flatMap((subKey) => wanted.map((facet) => [subKey, facet])),
    },
  ];
}
