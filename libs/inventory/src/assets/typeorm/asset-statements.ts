import type { Statement } from '#libs/platform/database';
import { ASSET_COLUMNS, TABLE_COLUMNS } from './asset-columns';
import { LAST_CLOUD } from './sub-keys';

export const FIND_ASSET: Statement = {
  name: 'asset_find_3',
  text: `SELECT ${ASSET_COLUMNS} FROM asset WHERE workspace_id = $1 AND public_id = $2 AND facet IS NOT NULL`,
};

/** The branches that a list merges. Each reads an index in the order of the id. */
export interface ListBranches {
  /** The facets of every type, of all cloud assets, or null without any filter. */
  readonly all: readonly number[] | null;
  readonly cloud: readonly number[];
  readonly ofSubKeys: readonly { readonly subKey: number; readonly facet: number }[];
}

/** More branches of single types than this are padded, so that few statements serve any list of types. */
const UNPADDED = 16;

/**
 * Reads a page of a list and its exact total in one statement, so both come from one snapshot. The total follows the
 * asset's columns. An empty page is one row with null columns.
 *
 * Values: $1 workspace, $2 position to start after, $3 rows wanted, then {@link branchValues}: $4 and $5 the wanted sub
 * keys and facets as arrays, $6… those of each branch.
 *
 * Each branch reads an index in the order of the id. The branches are merged, so at most one page of rows is read,
 * however many rows match (docs/decisions/0003). Without filters, one index over all visible rows serves. The total is a
 * sum of counters, never a count of assets.
 */
export function listStatement({ all, cloud, ofSubKeys }: ListBranches): Statement {
  let parameter = FIRST_BRANCH;
  const next = (): string => `$${(parameter += 1) - 1}::smallint`;
  const page = (condition: string) => `
    SELECT ${TABLE_COLUMNS} FROM asset
     WHERE workspace_id = $1 AND id > $2::bigint AND facet IS NOT NULL ${condition}
     ORDER BY id LIMIT $3::int`;
  const pairs = padded(ofSubKeys.length);
  const conditions = [
    ...(all ?? ['']).map(() => (all === null ? '' : `AND facet = ${next()}`)),
    ...cloud.map(() => `AND sub_key <= ${LAST_CLOUD} AND facet = ${next()}`),
    ...Array.from({ length: pairs }, () => `AND sub_key = ${next()} AND facet = ${next()}`),
  ];
  // IS TRUE keeps the arrays out of the index condition, which would look up each pair of their values.
  const counted =
    all === null ? '' : 'AND (sub_key = ANY ($4::smallint[])) IS TRUE AND (facet = ANY ($5::smallint[])) IS TRUE';
  return {
    name: `asset_list_5_${all === null ? 'unfiltered' : `${all.length}_${cloud.length}_${pairs}`}`,
    text: `
      SELECT ${ASSET_COLUMNS}, total.n
        FROM (SELECT coalesce(sum(n), 0) AS n FROM facet_count WHERE workspace_id = $1 ${counted}) AS total
        LEFT JOIN LATERAL (
          SELECT * FROM (${conditions.map((condition) => `(${page(condition)})`).join(' UNION ALL ')}) AS merged
           ORDER BY id LIMIT $3::int) AS page ON true
       ORDER BY id`,
  };
}

const FIRST_BRANCH = 6;

/** The values from $4 on; none without filters. Branches that only pad have null, and read nothing. */
export function branchValues(
  subKeys: readonly number[],
  facets: readonly number[],
  branches: ListBranches,
): (string | null)[] {
  const { all, cloud, ofSubKeys } = branches;
  if (all === null) return [];
  const pairs = ofSubKeys.flatMap(({ subKey, facet }) => [String(subKey), String(facet)]);
  const empty = Array.from({ length: 2 * padded(ofSubKeys.length) - pairs.length }, () => null);
  return [arrayOf(subKeys), arrayOf(facets), ...[...all, ...cloud].map(String), ...pairs, ...empty];
}

const arrayOf = (codes: readonly number[]): string => `{${codes.join(',')}}`;
const padded = (pairs: number): number => (pairs <= UNPADDED ? pairs : 2 ** Math.ceil(Math.log2(pairs)));
