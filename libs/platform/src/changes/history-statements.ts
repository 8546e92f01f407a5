import { type Statement, type TextRow, prepared } from '../database/pipelined-statements';
import { LARGEST } from './feed-position';
import type { FeedRows } from './feed-statement';

/** The present states of one kind of items, as their feed reads them, and the former ones that changes ended. */
interface States extends FeedRows {
  /** Has `workspace_id`, `id` of the item, `version_id`, `change_id`, `to_change`, `facet` and the columns of the item. */
  readonly former: string;
}

/** Rows of assets that a page of a stream looks at. Few of them may be what it is for. */
const WINDOW = 4_000;

const milliseconds = (time: string): string => `(extract(epoch FROM ${time}) * 1000)::bigint`;

/** The place of a change set in the order of commits. OFFSET 0 keeps one look-up for each row. */
const sequenceOf = (change: string): string =>
  `(SELECT sequence FROM change_set WHERE workspace_id = $1 AND id = ${change} OFFSET 0)`;

/**
 * The row `moment` of the instant $2: the last change set by then, the time of the newest one, the time now, and the first
 * instant that can be asked for.
 */
const MOMENT = `(
  SELECT (SELECT sequence FROM change_set WHERE workspace_id = $1 AND changed_at <= $2::timestamptz
           ORDER BY changed_at DESC, sequence DESC LIMIT 1) AS sequence,
         (SELECT ${milliseconds('changed_at')} FROM change_head WHERE workspace_id = $1) AS newest,
         ${milliseconds(`date_trunc('milliseconds', clock_timestamp())`)} AS now,
         (SELECT ${milliseconds('history_begins_at')} FROM workspace WHERE id = $1) AS first
  ) AS moment`;

/** The first columns of a row. `momentOf` of history.ts reads them. */
const MOMENT_COLUMNS = 'moment.newest, moment.now, moment.first';

/** The moment alone. */
export const FIND_MOMENT = prepared('history_moment', `SELECT ${MOMENT_COLUMNS} FROM ${MOMENT}`);

/**
 * The visible states at `moment` of the items of which a condition on the present row holds. It is the present state
 * unless that came later; otherwise the newest former one that had begun. Columns may name the row, which is `page`.
 */
const statesOf = ({ relation, former, columns }: Omit<States, 'kind'>, condition: string): string => `
  SELECT state.* FROM (SELECT * FROM ${relation} WHERE workspace_id = $1 AND ${condition}) AS present
   CROSS JOIN LATERAL (SELECT ${sequenceOf('present.change_id')} AS sequence OFFSET 0) AS made
   CROSS JOIN LATERAL (
     SELECT ${columns.join(', ')} FROM (SELECT present.*) AS page
      WHERE facet IS NOT NULL AND made.sequence <= moment.sequence
     UNION ALL
     SELECT ${columns.join(', ')} FROM (
       SELECT * FROM ${former}
        WHERE workspace_id = $1 AND id = present.id AND made.sequence > moment.sequence
          AND ${sequenceOf('change_id')} <= moment.sequence
        ORDER BY version_id DESC LIMIT 1) AS page
      WHERE facet IS NOT NULL) AS state`;

/** Views of the inventory. */
const OWNERS = {
  relation: 'known_asset',
  former: 'former_asset',
  columns: [`jsonb_build_object('id', public_id, 'name', name, 'email', email)`],
};

/** The owner of the row `page` at `moment`, as the view `visible_owner` shows one. */
const OWNER_THEN = `(${statesOf(OWNERS, 'public_id = page.owner_id AND is_employee')})`;

/**
 * The moment, and the item. Values: $1 workspace, $2 instant, $3 public id. One row, with nulls where no such item was
 * visible then.
 */
function findThen(states: States): Statement {
  const text = `
    SELECT ${MOMENT_COLUMNS}, state.*
      FROM ${MOMENT} LEFT JOIN LATERAL (${statesOf(states, 'public_id = $3::uuid')}) AS state ON true`;
  return prepared(`${states.relation}_find_then`, text);
}

/**
 * The moment, the last id of the window, which is null in the last window, and the next items in the order of their ids.
 * Looks at a window of the assets, so that it never takes long. Values: $1 workspace, $2 instant, $3 id to start after,
 * $4 rows wanted, $5 and $6 the first and last kind. Where the window holds no item, the only row has nulls in place of one.
 */
function listThen(states: States): Statement {
  const condition = `id > $3::bigint AND id <= place.last AND ${states.kind} BETWEEN $5::smallint AND $6::smallint`;
  const text = `
    SELECT ${MOMENT_COLUMNS}, place.next, state.*
      FROM ${MOMENT}
     CROSS JOIN LATERAL (
       SELECT max(id) AS last, CASE WHEN count(*) = ${WINDOW} THEN max(id) END AS next
         FROM (SELECT id FROM known_asset WHERE workspace_id = $1 AND id > $3::bigint
                ORDER BY id LIMIT ${WINDOW}) AS places) AS place
      LEFT JOIN LATERAL (${statesOf(states, condition)} ORDER BY present.id LIMIT $4::int) AS state ON true
     ORDER BY state.id`;
  return prepared(`${states.relation}_list_then`, text);
}

/**
 * The states of one item, newest first, each behind its times and its author. `History.entries` reads the columns. Values: $1
 * workspace, $2 public id, $3 rows wanted, and $4 the version of the first one, null for the present state. Where none is
 * left from there on, the only row has nulls in place of one. Set 0 holds what older releases made: nobody knows its authors.
 */
function entriesOf({ relation, former, columns }: States): Statement {
  const selected = columns.join(', ');
  const ofItem = `${former} AS page WHERE workspace_id = $1 AND id = item.id`;
  const text = `
    SELECT counted.total, counted.was_visible, ${milliseconds('made.changed_at')}, ${milliseconds('ended.changed_at')},
           CASE WHEN made.id <> 0 THEN made.origin END, made.client_id, made.request_id, entry.*
      FROM (SELECT id, facet FROM ${relation} WHERE workspace_id = $1 AND public_id = $2::uuid) AS item
     CROSS JOIN LATERAL (
       SELECT 1 + count(*) AS total, item.facet IS NOT NULL OR count(facet) > 0 AS was_visible FROM ${ofItem}) AS counted
      LEFT JOIN LATERAL (
       SELECT NULL::bigint AS version_id, facet IS NOT NULL AS is_visible, ${selected},
              change_id, NULL::bigint AS to_change
         FROM (SELECT * FROM ${relation} WHERE workspace_id = $1 AND id = item.id) AS page
        WHERE $4::bigint IS NULL
       UNION ALL
       (SELECT version_id, facet IS NOT NULL, ${selected}, change_id, to_change FROM ${ofItem}
           AND version_id <= coalesce($4::bigint, ${LARGEST})
         ORDER BY version_id DESC LIMIT $3::int)) AS entry ON true
      LEFT JOIN LATERAL (SELECT * FROM change_set WHERE workspace_id = $1 AND id = entry.change_id OFFSET 0) AS made
        ON true
      LEFT JOIN LATERAL (SELECT * FROM change_set WHERE workspace_id = $1 AND id = entry.to_change OFFSET 0) AS ended
        ON true
     ORDER BY entry.version_id DESC NULLS FIRST LIMIT $3::int`;
  return prepared(`${relation}_history`, text);
}

export type HistoryStatements<Item> = ReturnType<typeof historyOf<Item>>;

interface HistoryDeclaration<Item> extends States {
  /** Reads an item from its columns, of which the first is `id`. */
  readonly toItem: (row: TextRow) => Item;
  /** Reads an item with its owner, in a column behind the others. */
  readonly toExpandedItem: (row: TextRow) => Item;
}

/** Everything that is read of the past of one kind of items: each statement, and how to read the item in its rows. */
export function historyOf<Item>({ toItem, toExpandedItem, ...states }: HistoryDeclaration<Item>) {
  const expanded = { ...states, columns: [...states.columns, OWNER_THEN] };
  return {
    entries: { statement: entriesOf(states), toItem },
    find: { statement: findThen(states), toItem },
    findExpanded: { statement: findThen(expanded), toItem: toExpandedItem },
    list: { statement: listThen(states), toItem },
    listExpanded: { statement: listThen(expanded), toItem: toExpandedItem },
  };
}
