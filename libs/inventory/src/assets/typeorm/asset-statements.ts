import { type Statement, prepared } from '#libs/platform/database';
import { ASSET_COLUMNS, LAST_CLOUD, TABLE_COLUMNS } from './asset.row';
import { CHOSEN_TAG_KEY, type ListKey } from './asset-list-keys';

export const FIND_ASSET = prepared(
  'asset_find',
  `SELECT ${ASSET_COLUMNS} FROM asset WHERE workspace_id = $1 AND public_id = $2 AND facet IS NOT NULL`,
);

/** The branches that a list merges. Each reads an index in the order of the id. */
export interface ListBranches {
  /** Facets, each with branches for all types. Null without any filter. */
  readonly all: readonly number[] | null;
  /** Facets, each with one branch for all cloud assets. */
  readonly cloud: readonly number[];
  readonly ofSubKeys: readonly { readonly subKey: number; readonly facet: number }[];
}

/** A list with one exact filter. `isWhole` tells that counters of it alone give the total. */
export interface KeyedList {
  readonly key: ListKey;
  readonly isWhole: boolean;
}

/** More branches of single types than this are padded, so that few statements serve any list of types. */
const UNPADDED = 16;

/**
 * Reads a page of a list and its exact total in one statement, so both come from one snapshot. The total follows the
 * asset's columns. An empty page is one row with null columns.
 *
 * Values: $1 workspace, $2 position to start after, $3 rows wanted, $4 the value of a key, then {@link branchValues}:
 * the wanted sub keys and facets as arrays, and those of each branch.
 *
 * Each branch reads an index in the order of the id. The branches are merged, so at most one page of rows is read,
 * however many rows match (docs/decisions/0003). Without filters, one index over all visible rows serves. The total is a
 * sum of counters, except where a key has none for it: then its assets are counted.
 */
export function listStatement({ all, cloud, ofSubKeys }: ListBranches, keyed: KeyedList | null = null): Statement {
  const { key = null, isWhole = false } = keyed ?? {};
  const arrays = key ? 5 : 4;
  let parameter = isWhole ? arrays : arrays + 2;
  const next = (): string => `$${(parameter += 1) - 1}::smallint`;
  // IS TRUE keeps the arrays out of the index condition, which would look up each pair of their values.
  const ofTypes = `AND (sub_key = ANY ($${arrays}::smallint[])) IS TRUE`;
  const wanted = `${ofTypes} AND (facet = ANY ($${arrays + 1}::smallint[])) IS TRUE`;
  const ofKey = key ? `AND ${key.condition}` : '';
  const isCloud = `sub_key <= ${LAST_CLOUD}`;
  const ofFacet = (): string[] => {
    const facet = `AND facet = ${next()}`;
    if (!key) return [facet];
    return key.hasTypes
      ? [`AND (${isCloud}) IS TRUE ${facet}`, `AND (${isCloud}) IS FALSE ${facet}`]
      : [`${facet} ${ofTypes}`];
  };
  const pairs = padded(ofSubKeys.length, key);
  const conditions = [
    ...(all === null ? [''] : all.flatMap(ofFacet)),
    ...cloud.map(() => `AND ${key ? `(${isCloud}) IS TRUE` : isCloud} AND facet = ${next()}`),
    ...Array.from({ length: pairs }, () => `AND sub_key = ${next()} AND facet = ${next()}`),
  ];
  const table = key?.table ?? 'asset';
  const [id, columns] = table === 'asset' ? ['id', TABLE_COLUMNS] : ['asset_id', 'asset_id AS id'];
  const page = (condition: string) => `
    SELECT ${columns} FROM ${table}
     WHERE workspace_id = $1 AND ${id} > $2::bigint AND facet IS NOT NULL ${ofKey} ${condition}
     ORDER BY ${id} LIMIT $3::int`;
  const merged = `
    SELECT * FROM (${conditions.map((condition) => `(${page(condition)})`).join(' UNION ALL ')}) AS merged
     ORDER BY id LIMIT $3::int`;
  const ofTags = `
    SELECT asset.* FROM (${merged}) AS tagged
     CROSS JOIN LATERAL (
       SELECT ${TABLE_COLUMNS} FROM asset WHERE workspace_id = $1 AND asset.id = tagged.id OFFSET 0) AS asset`;
  const total = (): string => {
    if (!key)
      return `SELECT coalesce(sum(n), 0) AS n FROM facet_count WHERE workspace_id = $1 ${all === null ? '' : wanted}`;
    if (key.counter !== null && (isWhole || key.countsFacets)) return `${key.counter} ${isWhole ? '' : wanted}`;
    // Without IS TRUE: an index that begins with the key then reads no more than the assets that match.
    return `SELECT count(*) AS n FROM ${table} WHERE workspace_id = $1 ${ofKey} AND facet IS NOT NULL
             AND sub_key = ANY ($${arrays}::smallint[]) AND facet = ANY ($${arrays + 1}::smallint[])`;
  };
  const shape = all === null ? 'unfiltered' : `${all.length}_${cloud.length}_${pairs}`;
  return {
    name: `asset_list_8_${key ? `${key.name}_${isWhole ? 'whole' : 'part'}_` : ''}${shape}`,
    text: `
      ${table === 'asset' ? '' : CHOSEN_TAG_KEY}
      SELECT ${ASSET_COLUMNS}, total.n
        FROM (${total()}) AS total
        LEFT JOIN LATERAL (${table === 'asset' ? merged : ofTags}) AS page ON true
       ORDER BY id`,
  };
}

/**
 * The values behind those of position and key; none without filters. Branches that only pad have null, and read
 * nothing.
 */
export function branchValues(
  subKeys: readonly number[],
  facets: readonly number[],
  { all, cloud, ofSubKeys }: ListBranches,
  keyed: KeyedList | null = null,
): (string | null)[] {
  if (all === null) return [];
  const pairs = ofSubKeys.flatMap(({ subKey, facet }) => [String(subKey), String(facet)]);
  const length = 2 * padded(ofSubKeys.length, keyed?.key ?? null) - pairs.length;
  const branches = [...[...all, ...cloud].map(String), ...pairs, ...Array.from({ length }, () => null)];
  return keyed?.isWhole ? branches : [...wantedArrays(subKeys, facets), ...branches];
}

export const wantedArrays = (...wanted: readonly [subKeys: readonly number[], facets: readonly number[]]): string[] =>
  wanted.map((codes) => `{${codes.join(',')}}`);

/** A key has many statements already, so its pairs are padded more. */
const padded = (pairs: number, key: ListKey | null): number => {
  if (pairs === 0 || (!key && pairs <= UNPADDED)) return pairs;
  return key ? 4 ** Math.ceil(Math.log2(pairs) / 2) : 2 ** Math.ceil(Math.log2(pairs));
};
