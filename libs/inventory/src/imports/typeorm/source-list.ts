import type { TextRow } from '#libs/platform/database';
import { listOf } from '#libs/platform/lists';
import type { ImportedSource } from '../domain/recorded-run';
import { LISTED_RUN, type RunJson, toRun } from './run-statements';

/** A source is known by its name. Each column is read for the rows of the page only. */
const COLUMNS = {
  selected: [
    'id',
    '(SELECT coalesce(sum(n), 0) FROM source_count WHERE workspace_id = $1 AND source = page.id)',
    `(SELECT ${LISTED_RUN} FROM import_run AS run WHERE workspace_id = $1 AND source = page.id
       ORDER BY started_at DESC LIMIT 1)`,
    `(SELECT (extract(epoch FROM ended_at) * 1000)::bigint FROM import_run
       WHERE workspace_id = $1 AND source = page.id AND outcome = 'COMPLETED' ORDER BY started_at DESC LIMIT 1)`,
    '(SELECT stale_after_seconds FROM import_freshness WHERE workspace_id = $1 AND source = page.id)',
  ],
  at: { id: 0, asset_count: 1, last_import: 2, last_completed_at: 3, stale_after_seconds: 4, next: 5 },
};
const { at: AT } = COLUMNS;

const orNull = <Value>(column: TextRow[number] | undefined, read: (text: string) => Value): Value | null =>
  column == null ? null : read(column);

/** The sources of a workspace with an asset or a recorded import, sorted by code points. */
export const SOURCE_LIST = listOf({
  name: 'source_list',
  relation: 'inventory_sources($1)',
  columns: COLUMNS,
  order: {
    by: 'id COLLATE "C"',
    position: 'id',
    start: '',
    after: (position: string) => `${position} COLLATE "C"`,
  },
  filters: {},
  toItem: (row): ImportedSource => ({
    source: row[AT.id] as string,
    assetCount: Number(row[AT.asset_count]),
    lastImport: orNull(row[AT.last_import], (text) => toRun(JSON.parse(text) as RunJson)),
    lastCompletedAt: orNull(row[AT.last_completed_at], (text) => new Date(Number(text))),
    staleAfterSeconds: orNull(row[AT.stale_after_seconds], Number),
  }),
});
