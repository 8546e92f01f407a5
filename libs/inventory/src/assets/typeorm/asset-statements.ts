import type { Statement } from '#libs/platform/database';
import { ASSET_COLUMNS, TABLE_COLUMNS } from './asset-columns';
import { LAST_CLOUD } from './sub-keys';

export const FIND_ASSET: Statement = {
  name: 'asset_find_3',
  text: `SELECT ${ASSET_COLUMNS} FROM asset WHERE workspace_id = $1 AND public_id = $2 AND facet IS NOT NULL`,
};

/** The index that serves a list: over all assets, over the cloud's, or over one sub key's. Each ends in the id. */
export type ListRange = 'all' | 'cloud' | 'sub_key';

const RANGE_CONDITION: Record<ListRange, string> = {
  all: '',
  cloud: `AND sub_key <= ${LAST_CLOUD}`,
  sub_key: 'AND sub_key = $4',
};

/**
 * Reads a page of a list and its exact total in one statement, so both come from one snapshot. The total follows the
 * asset's columns. An empty page is one row with null columns.
 *
 * Values: $1 workspace, $2 position to start after, $3 rows wanted, $4 sub key (or NULL), $5… the wanted facets.
 *
 * Each wanted facet is a branch that reads an index in the order of the id. The branches are merged, so at most one
 * page of rows is read, however many rows match (docs/decisions/0003). Without filters, one index over all visible rows
 * serves. The total is a sum of counters, never a count of assets.
 */
export function listStatement(range: ListRange, facetCount: number, unfiltered: boolean): Statement {
  const facets = Array.from({ length: facetCount }, (_, index) => `$${index + 5}::smallint`);
  const page = (condition: string) => `
    SELECT ${TABLE_COLUMNS} FROM asset
     WHERE workspace_id = $1 AND id > $2::bigint AND facet IS NOT NULL ${condition}
     ORDER BY id LIMIT $3::int`;
  const branches = unfiltered
    ? page('')
    : facets.map((facet) => `(${page(`${RANGE_CONDITION[range]} AND facet = ${facet}`)})`).join(' UNION ALL ');
  return {
    name: `asset_list_4_${unfiltered ? 'unfiltered' : `${range}_${facetCount}`}`,
    text: `
      SELECT ${ASSET_COLUMNS}, total.n
        FROM (SELECT coalesce(sum(n), 0) AS n FROM facet_count
               WHERE workspace_id = $1 AND ($4::smallint IS NULL OR sub_key = $4::smallint)
                 ${range === 'cloud' ? RANGE_CONDITION.cloud : ''}
                 ${unfiltered ? '' : `AND facet IN (${facets.join(', ')})`}) AS total
        LEFT JOIN LATERAL (SELECT * FROM (${branches}) AS merged ORDER BY id LIMIT $3::int) AS page ON true
       ORDER BY id`,
  };
}
