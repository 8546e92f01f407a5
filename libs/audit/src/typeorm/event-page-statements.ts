import { prepared } from '#libs/platform/database';
import type { FilterName } from '../domain/event-filter';
import { SELECT_SEALED } from './audit-columns';

/** The first row. Its checkpoints bound the page. Null where there is none. */
export interface EventPageHead {
  /** The one of the last archived event. */
  readonly floor: CheckpointOfPage | null;
  /** The newest one before `until`. */
  readonly last: CheckpointOfPage | null;
  /** The newest one before `since`. */
  readonly before: CheckpointOfPage | null;
  /** The id of the event in the place of the cursor. */
  readonly seen: string | null;
  /** The time of the oldest event that is not published yet. */
  readonly waiting: string | null;
}

export interface CheckpointOfPage {
  readonly size: number;
  readonly last_event: string;
  readonly recorded_at: string;
}

const checkpoint = (rest: string): string => `
  (SELECT size, last_event, recorded_at, is_floor FROM audit_checkpoint WHERE workspace_id = $1 ${rest} LIMIT 1)`;
const NEWEST = 'ORDER BY recorded_at DESC, size DESC';

/**
 * The head of the workspace in the first row, and a page of published events in the others. One statement, and so of one
 * moment, whatever is sealed or archived meanwhile.
 *
 * Values: $1 workspace, $2 `until` or `infinity`, $3 `since`, $4 the sequence of the cursor, after which the page begins
 * unless $3 is given, $5 rows wanted, $6 the value of the filter.
 *
 * Only the first checkpoint can be the floor: an archive removes those below.
 */
const pageWhere = (condition: string) =>
  prepared(
    'audit_event_page',
    `
      WITH head AS (
        SELECT to_json(floor) AS floor, to_json(last) AS last, to_json(before) AS before, last.size AS end_at,
               coalesce(before.size, CASE WHEN $3::timestamptz IS NULL THEN $4::bigint END, floor.size, 0) AS after
          FROM (SELECT) AS one
          LEFT JOIN ${checkpoint('ORDER BY size')} AS floor ON floor.is_floor
          LEFT JOIN ${checkpoint(`AND recorded_at < $2::timestamptz ${NEWEST}`)} AS last ON true
          LEFT JOIN ${checkpoint(`AND recorded_at < $3::timestamptz ${NEWEST}`)} AS before ON true
      )
      SELECT 0::bigint AS place, json_build_object(
               'floor', floor, 'last', last, 'before', before,
               'seen', (SELECT id FROM audit_event WHERE workspace_id = $1 AND sequence = $4::bigint),
               'waiting', least(
                 (SELECT occurred_at FROM audit_event
                   WHERE workspace_id = $1
                     AND sequence > (SELECT coalesce(max(size), 0) FROM audit_checkpoint WHERE workspace_id = $1)
                   ORDER BY sequence LIMIT 1),
                 (SELECT occurred_at FROM audit_event
                   WHERE workspace_id = $1 AND sequence IS NULL ORDER BY id LIMIT 1)))
        FROM head
      UNION ALL
      SELECT sequence, to_json(event)
        FROM (${SELECT_SEALED} AND sequence > (SELECT after FROM head)
                 AND sequence <= (SELECT end_at FROM head) AND ${condition}
               ORDER BY sequence LIMIT $5::int) AS event
       ORDER BY place`,
  );

/** Each condition has an index that begins with the workspace and ends in the sequence. Updates of assets have no action. */
export const EVENT_PAGES: Readonly<Record<FilterName | 'updates' | 'all', ReturnType<typeof pageWhere>>> = {
  requestId: pageWhere('request_id = $6'),
  assetId: pageWhere('asset_id = $6'),
  clientId: pageWhere('client_id = $6'),
  action: pageWhere('action = $6'),
  updates: pageWhere('action IS NULL'),
  all: pageWhere('true'),
};
