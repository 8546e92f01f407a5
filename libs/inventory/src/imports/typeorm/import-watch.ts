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
    const gauge = (name: string, help: string, valueOf: (source: Freshness) => number | null): void =>
      metrics.gauges({ name, help, labels: ['workspace', 'source'] }, () =>
        this.known.flatMap((source) => {
          const value = valueOf(source);
          return value === null ? [] : [{ labels: source.labels, value }];
        }),
      );
    gauge(
      'compliance_import_age_seconds',
      'Age of the last completed import of a source; before the first one, time since its limit was set.',
      ({ freshAt }) => freshAt && Math.max(0, (Date.now() - freshAt) / 1_000),
    );
    gauge(
      'compliance_import_stale_after_seconds',
      'Age from which the last import is stale.',
      ({ staleAfterSeconds }) => staleAfterSeconds,
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
