import type { MigrationInterface, QueryRunner } from 'typeorm';

const AS_OWNER = 'SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp';

const freshnessFunction = (first: string): string => `
  CREATE OR REPLACE FUNCTION freshness_of_imports(most integer)
    RETURNS TABLE (workspace text, source text, fresh_at timestamptz, stale_after_seconds integer)
    LANGUAGE sql STABLE ${AS_OWNER} AS $$
    WITH RECURSIVE ran AS (
      (SELECT run.workspace_id, run.source FROM import_run AS run ORDER BY run.workspace_id, run.source LIMIT 1)
      UNION ALL
      SELECT next.workspace_id, next.source
        FROM ran CROSS JOIN LATERAL (
          SELECT run.workspace_id, run.source FROM import_run AS run
           WHERE (run.workspace_id, run.source) > (ran.workspace_id, ran.source)
           ORDER BY run.workspace_id, run.source LIMIT 1) AS next
    ), watched AS (
      SELECT ran.workspace_id, ran.source FROM ran
       UNION SELECT chosen.workspace_id, chosen.source FROM import_freshness AS chosen
    )
    SELECT known.slug, known.source, known.fresh_at, known.stale_after_seconds
      FROM (
        SELECT workspace.slug, watched.source, chosen.stale_after_seconds,
               coalesce((SELECT run.ended_at FROM import_run AS run
                          WHERE run.workspace_id = watched.workspace_id AND run.source = watched.source
                            AND run.outcome = 'COMPLETED' ORDER BY run.started_at DESC LIMIT 1),
                        chosen.set_at) AS fresh_at
          FROM watched JOIN workspace ON workspace.id = watched.workspace_id
          LEFT JOIN import_freshness AS chosen
            ON chosen.workspace_id = watched.workspace_id AND chosen.source = watched.source) AS known
     ORDER BY known.stale_after_seconds IS NULL, ${first} known.fresh_at DESC NULLS LAST, known.slug, known.source
     LIMIT most
  $$`;

/** Of many sources with a limit, shows the metrics those that are nearest to their alert. */
export class ImportFreshness1780000000140 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(freshnessFunction('known.fresh_at + make_interval(secs => known.stale_after_seconds),'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(freshnessFunction(''));
  }
}
