import type { ImportCounts } from '../domain/import-report';
import type { RecordedRun } from '../domain/recorded-run';

/** A run without its errors and warnings, as Postgres writes it. */
export interface RunJson extends Omit<RecordedRun, 'startedAt' | 'endedAt' | keyof ImportCounts> {
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly counts: ImportCounts;
}

/** SQL of {@link RunJson} over `run`, with these files. */
const runJson = (files: string): string => `jsonb_build_object(
  'id', run.id, 'source', run.source, 'startedAt', run.started_at, 'endedAt', run.ended_at, 'outcome', run.outcome,
  'who', run.who, 'map', run.map, 'options', run.options, 'files', ${files}, 'counts', run.counts,
  'hiddenWhy', run.hidden_why)`;

/** A run in a list has the first 20 of its files. There may be thousands, of each of a hundred runs. */
export const LISTED_RUN = runJson(`jsonb_path_query_array(run.files, '$[0 to 19]')`);

export const toRun = ({ startedAt, endedAt, counts, ...run }: RunJson): RecordedRun => ({
  ...run,
  ...counts,
  startedAt: new Date(startedAt),
  endedAt: endedAt === null ? null : new Date(endedAt),
});

export const MARK_INTERRUPTED = 'SELECT settle_import_runs()';

/** The newest runs, of each workspace from an index. $1 limit, $2 source and $3 workspace, null for all. */
export const LATEST = `
  SELECT workspace.slug, ${LISTED_RUN} AS run
    FROM workspace CROSS JOIN LATERAL (
      SELECT * FROM import_run WHERE workspace_id = workspace.id AND ($2::text IS NULL OR source = $2)
       ORDER BY started_at DESC, id LIMIT $1) AS run
   WHERE $3::uuid IS NULL OR workspace.id = $3
   ORDER BY run.started_at DESC, run.id LIMIT $1`;

/** $1 the id, $2 workspace, null for all. */
export const FIND = `
  SELECT workspace.slug, ${runJson('run.files')} AS run, errors, warnings
    FROM import_run AS run JOIN workspace ON workspace.id = run.workspace_id
   WHERE run.id = $1 AND ($2::uuid IS NULL OR run.workspace_id = $2)`;

/** Of two changes at once the second one reads what the first one wrote, as it begins after it. */
export const TAKE_TURNS = `SELECT pg_advisory_xact_lock(hashtextextended('stale after ' || $1 || ' ' || $2, 0))`;
export const IS_SOURCE = `SELECT FROM inventory_sources($1) WHERE id = $2`;
