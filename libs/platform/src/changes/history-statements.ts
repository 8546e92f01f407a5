import { type Statement, type TextRow, prepared } from '../database/pipelined-statements';
import { LARGEST } from './feed-position';

/** The relations with the states of one kind of items: the present ones, and the former ones that changes ended. */
interface HistoryRows {
  /** Has `workspace_id`, `id`, `public_id`, `change_id`, and `facet`, which is NULL where clients do not see the row. */
  readonly present: string;
  /** Has `workspace_id`, `id` of the item, `version_id`, `from_change`, `to_change` and `facet`. */
  readonly former: string;
}

/** Columns of an item: `id`, and columns of both relations, or expressions over them. They name the row `page`. */
type Columns = readonly string[];

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
         (SELECT ${milliseconds('begins_at')} FROM history_horizon WHERE workspace_id = $1) AS first
  ) AS moment`;

/** The first columns of a row. `momentOf` of history.ts reads them. */
const MOMENT_COLUMNS = 'moment.newest, moment.now, moment.first';

/** The moment alone. */
export const FIND_MOMENT = prepared('history_moment', `SELECT ${MOMENT_COLUMNS} FROM ${MOMENT}`);

/**
 * The visible states at `moment` of the items of which a condition on the present row holds. It is the present state
 * unless that came later; otherwise the newest former one that had begun.
 */
const statesOf = ({ present, former }: HistoryRows, condition: string, columns: Columns): string => `
  SELECT state.* FROM (SELECT * FROM ${present} WHERE workspace_id = $1 AND ${condition}) AS present
   CROSS JOIN LATERAL (SELECT ${sequenceOf('present.change_id')} AS sequence OFFSET 0) AS made
   CROSS JOIN LATERAL (
     SELECT ${columns.join(', ')} FROM (SELECT present.*) AS page
      WHERE facet IS NOT NULL AND made.sequence <= moment.sequence
     UNION ALL
     SELECT ${columns.join(', ')} FROM (
       SELECT * FROM ${former}
        WHERE workspace_id = $1 AND id = present.id AND made.sequence > moment.sequence
          AND ${sequenceOf('from_change')} <= moment.sequence
        ORDER BY version_id DESC LIMIT 1) AS page
      WHERE facet IS NOT NULL) AS state`;

/** Views of the inventory. */
const ASSETS: HistoryRows = { present: 'known_asset', former: 'former_asset' };

/** The owner of the row `page` at `moment`, as the view `visible_owner` shows one. */
const OWNER_THEN = `(${statesOf(ASSETS, 'public_id = page.owner_id AND is_employee', [
  `jsonb_build_object('id', public_id, 'name', name, 'email', email)`,
])})`;

/**
 * The moment, and the item. Values: $1 workspace, $2 instant, $3 public id. One row, with nulls where no such item was
 * visible then.
 */
function findThen(label: string, rows: HistoryRows, columns: Columns): Statement {
  const text = `
    SELECT ${MOMENT_COLUMNS}, state.*
      FROM ${MOMENT} LEFT JOIN LATERAL (${statesOf(rows, 'public_id = $3::uuid', columns)}) AS state ON true`;
  return prepared(`${label}_find_then`, text);
}

/**
 * The moment, the last id of the window, which is null in the last window, and the next items in the order of their ids.
 * Looks at a window of the assets, so that it never takes long. Values: $1 workspace, $2 instant, $3 id to start after,
 * $4 rows wanted, $5 and $6 the first and last kind. Where the window holds no item, the only row has nulls in place of one.
 */
function listThen(label: string, rows: HistoryRows & { readonly kind: string }, columns: Columns): Statement {
  const condition = `id > $3::bigint AND id <= place.last AND ${rows.kind} BETWEEN $5::smallint AND $6::smallint`;
  const text = `
    SELECT ${MOMENT_COLUMNS}, place.next, state.*
      FROM ${MOMENT}
     CROSS JOIN LATERAL (
       SELECT max(id) AS last, CASE WHEN count(*) = ${WINDOW} THEN max(id) END AS next
         FROM (SELECT id FROM known_asset WHERE workspace_id = $1 AND id > $3::bigint
                ORDER BY id LIMIT ${WINDOW}) AS places) AS place
      LEFT JOIN LATERAL (${statesOf(rows, condition, columns)} ORDER BY present.id LIMIT $4::int) AS state ON true
     ORDER BY state.id`;
  return prepared(`${label}_list_then`, text);
}

/**
 * The states of one item, newest first, each behind its times and its author. `History.entries` reads the columns. Values: $1
 * workspace, $2 public id, $3 rows wanted, and $4 the version of the first one, null for the present state. Where none is
 * left from there on, the only row has nulls in place of one.
 */
function entriesOf(label: string, { present, former }: HistoryRows, columns: Columns): Statement {
  const selected = columns.join(', ');
  const ofItem = `${former} AS page WHERE workspace_id = $1 AND id = item.id`;
  const text = `
    SELECT counted.total, counted.was_visible, ${milliseconds('made.changed_at')}, ${milliseconds('ended.changed_at')},
           made.origin, made.client_id, made.request_id, entry.*
      FROM (SELECT id, facet FROM ${present} WHERE workspace_id = $1 AND public_id = $2::uuid) AS item
     CROSS JOIN LATERAL (
       SELECT 1 + count(*) AS total, item.facet IS NOT NULL OR count(facet) > 0 AS was_visible FROM ${ofItem}) AS counted
      LEFT JOIN LATERAL (
       SELECT NULL::bigint AS version_id, facet IS NOT NULL AS is_visible, ${selected},
              change_id AS from_change, NULL::bigint AS to_change
         FROM (SELECT * FROM ${present} WHERE workspace_id = $1 AND id = item.id) AS page
        WHERE $4::bigint IS NULL
       UNION ALL
       (SELECT version_id, facet IS NOT NULL, ${selected}, from_change, to_change FROM ${ofItem}
           AND version_id <= coalesce($4::bigint, ${LARGEST})
         ORDER BY version_id DESC LIMIT $3::int)) AS entry ON true
      LEFT JOIN LATERAL (SELECT * FROM change_set WHERE workspace_id = $1 AND id = entry.from_change OFFSET 0) AS made
        ON true
      LEFT JOIN LATERAL (SELECT * FROM change_set WHERE workspace_id = $1 AND id = entry.to_change OFFSET 0) AS ended
        ON true
     ORDER BY entry.version_id DESC NULLS FIRST LIMIT $3::int`;
  return prepared(`${label}_history`, text);
}

interface HistoryDeclaration<Item> extends HistoryRows {
  /** The label of its statements. */
  readonly name: string;
  /** The column of the present rows with their kind, of the type `smallint`. */
  readonly kind: string;
  readonly columns: Columns;
  readonly toItem: (row: TextRow) => Item;
  /** Reads an item with its owner, in a column behind the others. */
  readonly toExpandedItem: (row: TextRow) => Item;
}

export type HistoryStatements<Item> = ReturnType<typeof historyOf<Item>>;

/**
 * Everything that is read of the past of one kind of items: each statement, and how to read the item in its rows. The first
 * column is never null where there is an item.
 */
export function historyOf<Item>(declared: HistoryDeclaration<Item>) {
  const { name, columns, toItem, toExpandedItem } = declared;
  const expanded = [...columns, OWNER_THEN];
  return {
    entries: { statement: entriesOf(name, declared, columns), toItem },
    find: { statement: findThen(name, declared, columns), toItem },
    findExpanded: { statement: findThen(name, declared, expanded), toItem: toExpandedItem },
    list: { statement: listThen(name, declared, columns), toItem },
    listExpanded: { statement: listThen(name, declared, expanded), toItem: toExpandedItem },
  };
}
