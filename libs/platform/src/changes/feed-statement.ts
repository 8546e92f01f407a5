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

/** Rows of one set that a page looks at in vain, at most: removed ones from before the reader began. */
const MOST_EXAMINED = 1_000;
/** Sets that a page looks at beyond one for each of its rows: some have nothing that the reader asks for. */
const SETS_BEYOND = 200;

/** The columns behind those of the item, in this order. The first eight are the same in every row. */
export const FEED_COLUMNS = [
  'known_mark',
  'head_sequence',
  'head_mark',
  'purged_sequence',
  'restarted_sequence',
  'tail_sequence',
  'tail_mark',
  'has_row',
  'public_id',
  'is_visible',
  'is_shown',
  'sequence',
  'mark',
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
 * $8 the set up to which removals are left out.
 *
 * Sets are read in their order, and the rows of each in the order of the index asset_change. The page ends early behind
 * `tail`, the last set that it may look at, and at a row that is not shown, the last one that it may look at in its set.
 * So a page costs the same however large the inventory is.
 */
export function feedStatement({ relation, columns, name }: FeedRows): Statement {
  return {
    name,
    text: `
      SELECT ${columns.join(', ')},
             feed.known_mark, feed.head_sequence, feed.head_mark, feed.purged_sequence, feed.restarted_sequence,
             feed.tail_sequence, feed.tail_mark, page.id IS NOT NULL, page.public_id, page.facet IS NOT NULL,
             page.is_shown, page.sequence, page.mark, page.sub_key, page.id,
             (extract(epoch FROM page.changed_at) * 1000)::bigint, page.origin, page.client_id, page.request_id
        FROM (
          SELECT (SELECT mark FROM change_set WHERE workspace_id = $1 AND sequence = $2::bigint) AS known_mark,
                 head.sequence AS head_sequence, head.mark AS head_mark, head.purged_sequence, head.restarted_sequence,
                 tail.sequence AS tail_sequence, tail.mark AS tail_mark
            FROM (SELECT) AS one
            LEFT JOIN change_head AS head ON head.workspace_id = $1
            LEFT JOIN LATERAL (
              SELECT sequence, mark FROM change_set
               WHERE workspace_id = $1 AND sequence >= $2::bigint AND NOT emptied
               ORDER BY sequence OFFSET $5::int + ${SETS_BEYOND - 1} LIMIT 1) AS tail ON true
        ) AS feed
        LEFT JOIN LATERAL (
          SELECT item.*, change.sequence, change.mark, change.changed_at, change.origin, change.client_id, change.request_id
            FROM (SELECT * FROM change_set WHERE workspace_id = $1 AND sequence >= $2::bigint AND NOT emptied
                   ORDER BY sequence LIMIT $5::int + ${SETS_BEYOND}) AS change
           CROSS JOIN LATERAL (
             SELECT * FROM (
               SELECT examined.*, facet IS NOT NULL OR change.sequence > $8::bigint AS is_shown
                 FROM (SELECT *, row_number() OVER (ORDER BY sub_key, id) AS nth FROM ${relation}
                        WHERE workspace_id = $1 AND change_id = change.id AND sub_key BETWEEN $6::smallint AND $7::smallint
                          AND (sub_key, id) > (CASE WHEN change.sequence = $2::bigint THEN $3::smallint ELSE 0::smallint END,
                                               CASE WHEN change.sequence = $2::bigint THEN $4::bigint ELSE 0::bigint END)
                        ORDER BY sub_key, id LIMIT ${MOST_EXAMINED}) AS examined) AS judged
              WHERE is_shown OR nth = ${MOST_EXAMINED}
              ORDER BY sub_key, id LIMIT $5::int) AS item
           ORDER BY change.sequence, item.sub_key, item.id LIMIT $5::int
        ) AS page ON true
       ORDER BY page.sequence, page.sub_key, page.id`,
  };
}
