import type { Statement } from '../database/pipelined-statements';

/** The rows that a feed tells of: a table or view with these columns besides those of the item. */
export interface FeedRows {
  /** Has `workspace_id`, `change_id`, `sub_key`, `id`, `public_id` and `facet`, which is NULL for removed rows. */
  readonly relation: string;
  /** What the item is made of: columns of the relation, or expressions over them. */
  readonly columns: readonly string[];
  /** Changes whenever `relation` or `columns` do. */
  readonly name: string;
}

/** Sets that a page looks at beyond one for each of its rows: some have nothing that the reader asks for. */
const SETS_BEYOND = 200;

/** The columns behind those of the item, in this order. The first seven are the same in every row. */
export const FEED_COLUMNS = [
  'known_mark',
  'head_sequence',
  'head_mark',
  'purged_sequence',
  'restarted_sequence',
  'tail_sequence',
  'has_row',
  'public_id',
  'is_visible',
  'sequence',
  'sub_key',
  'id',
  'changed_at',
  'origin',
  'client_id',
  'request_id',
] as const;

/**
 * A page of a feed with the head of the workspace, in one statement and so of one moment. An empty page is one row.
 *
 * Values: $1 workspace, $2 to $4 the position (sequence, sub key, id), $5 rows wanted, $6 and $7 the first and last sub key,
 * $8 the set up to which removals are left out, $9 the newest set that the reader knows of.
 *
 * Sets are read in their order, and the rows of each in the order of the indexes asset_change_visible and
 * asset_change_removed. Removals that are left out are not looked at. The page ends early behind `tail`, the last set that
 * it may look at. So a page costs the same however large the inventory is, and however much of it was removed.
 */
export function feedStatement({ relation, columns, name }: FeedRows): Statement {
  const rowsOfSet = (condition: string): string => `
                (SELECT * FROM ${relation}
                  WHERE workspace_id = $1 AND change_id = change.id AND ${condition}
                    AND sub_key BETWEEN $6::smallint AND $7::smallint
                    AND (sub_key, id) > (CASE WHEN change.sequence = $2::bigint THEN $3::smallint ELSE 0::smallint END,
                                         CASE WHEN change.sequence = $2::bigint THEN $4::bigint ELSE 0::bigint END)
                  ORDER BY sub_key, id LIMIT $5::int)`;
  return {
    name,
    text: `
      SELECT ${columns.join(', ')},
             feed.known_mark, feed.head_sequence, feed.head_mark, feed.purged_sequence, feed.restarted_sequence,
             feed.tail_sequence, page.id IS NOT NULL, page.public_id, page.facet IS NOT NULL, page.sequence, page.sub_key,
             page.id, (extract(epoch FROM page.changed_at) * 1000)::bigint, page.origin, page.client_id, page.request_id
        FROM (
          SELECT (SELECT mark FROM change_set WHERE workspace_id = $1 AND sequence = $9::bigint) AS known_mark,
                 head.sequence AS head_sequence, head.mark AS head_mark, head.purged_sequence, head.restarted_sequence,
                 tail.sequence AS tail_sequence
            FROM (SELECT) AS one
            LEFT JOIN change_head AS head ON head.workspace_id = $1
            LEFT JOIN LATERAL (
              SELECT sequence FROM change_set
               WHERE workspace_id = $1 AND sequence >= $2::bigint AND NOT emptied
               ORDER BY sequence OFFSET $5::int + ${SETS_BEYOND - 1} LIMIT 1) AS tail ON true
        ) AS feed
        LEFT JOIN LATERAL (
          SELECT item.*, change.sequence, change.changed_at, change.origin, change.client_id, change.request_id
            FROM (SELECT * FROM change_set WHERE workspace_id = $1 AND sequence >= $2::bigint AND NOT emptied
                   ORDER BY sequence LIMIT $5::int + ${SETS_BEYOND}) AS change
           CROSS JOIN LATERAL (
              SELECT * FROM (${rowsOfSet('facet IS NOT NULL')}
                UNION ALL ${rowsOfSet('facet IS NULL AND change.sequence > $8::bigint')}) AS rows_of_set
               ORDER BY sub_key, id LIMIT $5::int) AS item
           ORDER BY change.sequence, item.sub_key, item.id LIMIT $5::int
        ) AS page ON true
       ORDER BY page.sequence, page.sub_key, page.id`,
  };
}
