import type { Statement } from '#libs/platform';

/** Columns of an asset in the order that `toAsset` reads them; the internal id comes first. */
export const ASSET_COLUMNS = [
  'id',
  'public_id',
  'sub_key',
  'name',
  'classification',
  'description',
  'owner_id',
  'owner_source',
  'external_id',
  '(extract(epoch FROM created_at) * 1000)::bigint',
  '(extract(epoch FROM last_checked_at) * 1000)::bigint',
  'tags',
  'contains_patient_data',
  'contains_user_data',
  'user_data_info',
  'account_id',
  'region',
  'serial_number',
  'operating_system',
  'os_version',
  'email',
  'version',
] as const;

/** The columns of the table that those are made of. */
const READ_COLUMNS = ASSET_COLUMNS.map((column) => /epoch FROM (\w+)/.exec(column)?.[1] ?? column).join(', ');

export const FIND_ASSET: Statement = {
  name: 'asset_find_2',
  text: `SELECT ${ASSET_COLUMNS.join(', ')} FROM asset WHERE workspace_id = $1 AND public_id = $2 AND facet IS NOT NULL`,
};

/** Which of the indexes that end in the id serves a list: over all assets, the cloud's, or one sub key's. */
export type ListRange = 'all' | 'cloud' | 'sub_key';

const RANGE_CONDITION: Record<ListRange, string> = {
  all: '',
  cloud: 'AND sub_key <= 11',
  sub_key: 'AND sub_key = $4',
};

/**
 * A page of a list and its exact total, in one statement and so of one moment.
 *
 * Values: $1 workspace, $2 position to start after, $3 rows wanted, $4 sub key (or NULL), $5… the wanted facets.
 *
 * Every wanted facet is a branch of its own that reads an index in the order of the id; the branches are merged, and no
 * more than one page of rows is read however many rows match (docs/decisions/0003). Without filters one index over all
 * visible rows serves. The total is a sum over counters, never over assets.
 */
export function listStatement(range: ListRange, facetCount: number, unfiltered: boolean): Statement {
  const facets = Array.from({ length: facetCount }, (_, index) => `$${index + 5}::smallint`);
  const page = (condition: string) => `
    SELECT ${READ_COLUMNS} FROM asset
     WHERE workspace_id = $1 AND id > $2::bigint AND facet IS NOT NULL ${condition}
     ORDER BY id LIMIT $3::int`;
  const branches = unfiltered
    ? page('')
    : facets.map((facet) => `(${page(`${RANGE_CONDITION[range]} AND facet = ${facet}`)})`).join(' UNION ALL ');
  return {
    name: `asset_list_2_${unfiltered ? 'unfiltered' : `${range}_${facetCount}`}`,
    text: `
      SELECT total.n, ${ASSET_COLUMNS.join(', ')}
        FROM (SELECT coalesce(sum(n), 0) AS n FROM facet_count
               WHERE workspace_id = $1 AND ($4::smallint IS NULL OR sub_key = $4::smallint)
                 ${range === 'cloud' ? 'AND sub_key <= 11' : ''}
                 ${unfiltered ? '' : `AND facet IN (${facets.join(', ')})`}) AS total
        LEFT JOIN LATERAL (SELECT * FROM (${branches}) AS merged ORDER BY id LIMIT $3::int) AS page ON true
       ORDER BY id`,
  };
}
