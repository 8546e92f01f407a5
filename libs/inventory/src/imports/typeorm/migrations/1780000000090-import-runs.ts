import type { MigrationInterface, QueryRunner } from 'typeorm';
import { tenantPolicy } from '#libs/platform/database';

const AS_OWNER = 'SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp';
/** Finds the names of sources by one probe of an index for each. `table` has an index that begins with both columns. */
const sourcesOf = (table: string): string => `
          (SELECT source FROM ${table} WHERE workspace_id = workspace ORDER BY source LIMIT 1)
          UNION ALL
          SELECT (SELECT source FROM ${table} WHERE workspace_id = workspace AND source > last.source
                   ORDER BY source LIMIT 1)`;

/** A record of every import, and the age from which the last one of a source is stale. */
export class ImportRuns1780000000090 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE import_run (
        workspace_id uuid NOT NULL REFERENCES workspace (id),
        id uuid NOT NULL,
        source text NOT NULL,
        started_at timestamptz(3) NOT NULL DEFAULT now(),
        ended_at timestamptz(3),
        outcome text NOT NULL CHECK (outcome IN ('RUNNING', 'COMPLETED', 'FAILED', 'INTERRUPTED')),
        who text,
        map text,
        options jsonb NOT NULL,
        files jsonb NOT NULL,
        counts jsonb NOT NULL,
        hidden_why text,
        errors jsonb NOT NULL,
        warnings jsonb NOT NULL,
        PRIMARY KEY (workspace_id, id),
        CHECK ((outcome = 'RUNNING') = (ended_at IS NULL))
      );
      CREATE INDEX import_run_source ON import_run (workspace_id, source, started_at);
      CREATE INDEX import_run_started ON import_run (workspace_id, started_at);
      CREATE INDEX import_run_running ON import_run (workspace_id) WHERE outcome = 'RUNNING';
      COMMENT ON TABLE import_run IS 'One row for each import, kept for 400 days. A dry run leaves none.';
      COMMENT ON COLUMN import_run.who IS 'The operator.';
      COMMENT ON COLUMN import_run.files IS 'Names without paths, and bytes.';
      COMMENT ON COLUMN import_run.errors IS 'The first 1,000: line and reason, never a value of a record.';
      ${tenantPolicy('import_run', { ownerSeesAll: true })}

      CREATE TABLE import_freshness (
        workspace_id uuid NOT NULL REFERENCES workspace (id),
        source text NOT NULL,
        stale_after_seconds integer NOT NULL CHECK (stale_after_seconds > 0),
        set_at timestamptz(3) NOT NULL DEFAULT now(),
        PRIMARY KEY (workspace_id, source)
      );
      COMMENT ON TABLE import_freshness IS 'The age from which the last completed import of a source is stale.';
      ${tenantPolicy('import_freshness', { ownerSeesAll: true })}
    `);
    await this.createFunctions(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION freshness_of_imports, settle_import_runs, inventory_sources;
      DROP TABLE import_freshness, import_run;
    `);
  }

  private async createFunctions(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION inventory_sources(workspace uuid) RETURNS TABLE (workspace_id uuid, id text)
        LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
        WITH RECURSIVE held AS (${sourcesOf('asset')}
            FROM held AS last WHERE last.source IS NOT NULL
        ), ran AS (${sourcesOf('import_run')}
            FROM ran AS last WHERE last.source IS NOT NULL
        )
        SELECT workspace, source FROM held WHERE source IS NOT NULL
         UNION SELECT workspace, source FROM ran WHERE source IS NOT NULL
      $$;
      REVOKE ALL ON FUNCTION inventory_sources FROM PUBLIC;
      COMMENT ON FUNCTION inventory_sources IS 'The sources of a workspace with an asset or a recorded import.';

      -- An import holds the lock of its source until its connection ends, so it is gone when nobody holds it.
      CREATE FUNCTION settle_import_runs() RETURNS void LANGUAGE sql ${AS_OWNER} AS $$
        UPDATE import_run AS run SET outcome = 'INTERRUPTED', ended_at = now()
         WHERE outcome = 'RUNNING' AND NOT EXISTS (
           SELECT FROM pg_locks
            WHERE locktype = 'advisory' AND objsubid = 1 AND granted
              AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
              AND (classid::bigint << 32 | objid::bigint)
                  = hashtextextended('import ' || run.workspace_id || ' ' || run.source, 0));
        DELETE FROM import_run AS run USING workspace
         WHERE run.workspace_id = workspace.id AND run.started_at < now() - interval '400 days';
      $$;
      REVOKE ALL ON FUNCTION settle_import_runs FROM PUBLIC;
      COMMENT ON FUNCTION settle_import_runs IS
        'Marks imports of any workspace whose process is gone, and removes records older than 400 days.';

      CREATE FUNCTION freshness_of_imports(most integer)
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
         ORDER BY known.stale_after_seconds IS NULL, known.fresh_at + make_interval(secs => known.stale_after_seconds),
                  known.fresh_at DESC NULLS LAST, known.slug, known.source
         LIMIT most
      $$;
      REVOKE ALL ON FUNCTION freshness_of_imports FROM PUBLIC;
      COMMENT ON FUNCTION freshness_of_imports IS
        'The last completed import of sources of any workspace, those nearest to their limit first; before the first one, when the limit was set.';
    `);
  }
}
