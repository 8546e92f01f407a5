import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Measures the sealing backlog. Probes the index of unsealed events once for each workspace, a thousand at most, and
 * counts up to ten thousand: measuring must not slow sealing down.
 */
export class AuditBacklog1780000000014 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION audit_backlog(OUT unsealed bigint, OUT oldest timestamptz)
        LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off AS $$
        WITH RECURSIVE first (workspace_id, occurred_at, place) AS (
          (SELECT workspace_id, occurred_at, 1 FROM audit_event
            WHERE sequence IS NULL ORDER BY workspace_id, id LIMIT 1)
          UNION ALL
          SELECT event.workspace_id, event.occurred_at, first.place + 1
            FROM first CROSS JOIN LATERAL (
                   SELECT workspace_id, occurred_at FROM audit_event
                    WHERE sequence IS NULL AND workspace_id > first.workspace_id
                    ORDER BY workspace_id, id LIMIT 1) AS event
           WHERE first.place < 1000
        )
        SELECT (SELECT count(*) FROM (SELECT FROM audit_event WHERE sequence IS NULL LIMIT 10000) AS counted),
               (SELECT min(occurred_at) FROM first)
      $$;
      REVOKE ALL ON FUNCTION audit_backlog FROM PUBLIC;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION audit_backlog');
  }
}
