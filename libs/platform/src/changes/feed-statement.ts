import { type Statement, prepared } from '../database/pipelined-statements';

/** A table or view with the rows of a feed. */
export interface FeedRows {
  /** Has `workspace_id`, `change_id`, `id`, `public_id` and `facet`, which is NULL for removed rows. */
  readonly relation: string;
  /** Its column of the type `smallint` by which the rows of a set are ordered, before the id. */
  readonly kind: string;
  /** Columns of the item: columns of the relation, or expressions over them. */
  readonly columns: readonly string[];
}

/** Sets that a page reads beyond one for each of its rows, because some hold nothing for the reader. */
const SETS_BEYOND = 200;

/** The first column of the first row: the state of the workspace's feed. Null before its first change. */
export interface FeedHead {
  /** The mark of set $9 in this database. */
  readonly knownMark: string | null;
  readonly sequence: string | null;
  readonly mark: string | null;
  readonly purged: string | null;
  readonly restarted: string | null;
  /** The last set that the page may look at. Null where the page reaches the newest one. */
  readonly tail: string | null;
}

/**
 * The head of the workspace in the first row, and a page of its feed in the others. One statement, and so of one moment.
 * `readRow` of change-feed.ts reads the columns of a row, those of the item last.
 *
 * Values: $1 workspace, $2 to $4 the position (sequence, kind, id), $5 rows wanted, $6 and $7 the first and last kind,
 * $8 the set up to which removals are left out, $9 the newest set that the reader knows of.
 *
 * Sets are read in their order, and the rows of each in the order of the index asset_change. Its column `facet IS NULL`
 * divides each set, so removals that are left out are not looked at. Postgres finds the visible half by `IS FALSE` only.
 * The page ends early behind `tail`. So a page costs the same however large the inventory is, and however much of it was
 * removed.
 */
export function feedStatement({ relation, kind, columns }: FeedRows): Statement {
  const rowsOfSet = (condition: string): string => `
                (SELECT *, ${kind} AS feed_kind FROM ${relation}
                  WHERE workspace_id = $1 AND change_id = change.id AND ${condition}
                    AND ${kind} BETWEEN $6::smallint AND $7::smallint
                    AND (${kind}, id) > (CASE WHEN change.sequence = $2::bigint THEN $3::smallint ELSE 0::smallint END,
                                         CASE WHEN change.sequence = $2::bigint THEN $4::bigint ELSE 0::bigint END)
                  ORDER BY ${kind}, id LIMIT $5::int)`;
  const text = `
      SELECT json_build_object(
               'knownMark', (SELECT mark FROM change_set WHERE workspace_id = $1 AND sequence = $9::bigint),
               'sequence', head.sequence::text, 'mark', head.mark,
               'purged', head.purged_sequence::text, 'restarted', head.restarted_sequence::text,
               'tail', (SELECT sequence FROM change_set
                         WHERE workspace_id = $1 AND sequence >= $2::bigint AND NOT emptied
                         ORDER BY sequence OFFSET $5::int + ${SETS_BEYOND - 1} LIMIT 1)::text) AS head,
             NULL AS public_id, NULL AS is_visible, NULL AS sequence, NULL AS feed_kind, NULL AS id, NULL AS changed_at,
             NULL AS origin, NULL AS client_id, NULL AS request_id, ${columns.map(() => 'NULL').join(', ')}
        FROM (SELECT) AS one LEFT JOIN change_head AS head ON head.workspace_id = $1
      UNION ALL
      SELECT NULL, public_id, facet IS NOT NULL, sequence, feed_kind, id, (extract(epoch FROM changed_at) * 1000)::bigint,
             origin, client_id, request_id, ${columns.join(', ')}
        FROM (
          SELECT item.*, change.sequence, change.changed_at, change.origin, change.client_id, change.request_id
            FROM (SELECT * FROM change_set WHERE workspace_id = $1 AND sequence >= $2::bigint AND NOT emptied
                   ORDER BY sequence LIMIT $5::int + ${SETS_BEYOND}) AS change
           CROSS JOIN LATERAL (${rowsOfSet('(facet IS NULL) IS FALSE')}
                UNION ALL ${rowsOfSet('facet IS NULL AND change.sequence > $8::bigint')}) AS item
           ORDER BY change.sequence, item.feed_kind, item.id LIMIT $5::int
        ) AS page
       ORDER BY sequence NULLS FIRST, feed_kind, id`;
  return prepared(`${relation}_feed`, text);
}
