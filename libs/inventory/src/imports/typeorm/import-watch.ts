import { Injectable } from '@nestjs/common';
import { RepeatedWork } from '#libs/platform/background';
import { Database, bind, prepared } from '#libs/platform/database';
import { Metrics } from '#libs/platform/observability';
import { MARK_INTERRUPTED } from './run-statements';

const PAUSE_MS = 10_000;
/** Bounds the number of series: the sources that are nearest to their limit come first. */
const MOST_SOURCES = 500;
const MARK_RUNS = prepared('import_runs_mark_interrupted', MARK_INTERRUPTED);
const FRESHNESS = prepared(
  'import_freshness',
  `SELECT workspace, source, (extract(epoch FROM fresh_at) * 1000)::bigint, stale_after_seconds
     FROM freshness_of_imports($1::integer)`,
);

interface Freshness {
  readonly labels: { readonly workspace: string; readonly source: string };
  /** Milliseconds since 1970. Null for a source without limit of which no import was completed. */
  readonly freshAt: number | null;
  readonly staleAfterSeconds: number | null;
}

/**
 * Marks imports whose process is gone, removes old records, and remembers the age of each source for the metrics, so that a
 * scrape never waits for Postgres.
 */
@Injectable()
export class ImportWatch extends RepeatedWork {
  private known: readonly Freshness[] = [];

  constructor(
    private readonly database: Database,
    metrics: Metrics,
  ) {
    super(PAUSE_MS, 'imports were not looked at');
    const labels = ['workspace', 'source'] as const;
    metrics.gauges(
      {
        name: 'compliance_import_age_seconds',
        help: 'Age of the last completed import of a source; before the first one, time since its limit was set.',
        labels,
      },
      () =>
        this.known.flatMap(({ labels: of, freshAt }) =>
          freshAt === null ? [] : [{ labels: of, value: Math.max(0, (Date.now() - freshAt) / 1_000) }],
        ),
    );
    metrics.gauges(
      { name: 'compliance_import_stale_after_seconds', help: 'Age from which the last import is stale.', labels },
      () =>
        this.known.flatMap(({ labels: of, staleAfterSeconds }) =>
          staleAfterSeconds === null ? [] : [{ labels: of, value: staleAfterSeconds }],
        ),
    );
  }

  /** Looks at all imports once. */
  async round(): Promise<void> {
    const [, rows = []] = await this.database.run({ outsideTenants: true }, [
      bind(MARK_RUNS, []),
      bind(FRESHNESS, [String(MOST_SOURCES)]),
    ]);
    this.known = rows.map(([workspace, source, freshAt, staleAfter]) => ({
      labels: { workspace: workspace as string, source: source as string },
      freshAt: freshAt == null ? null : Number(freshAt),
      staleAfterSeconds: staleAfter == null ? null : Number(staleAfter),
    }));
  }
}
