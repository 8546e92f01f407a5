import { tenantPolicy } from '#libs/platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countingTriggers } from '../counters';

const COUNTERS = ['count_inserted_sources', 'count_updated_sources', 'count_deleted_sources'];

/**
 * Counts the visible assets of each import source like `facet_count`, and in the same order of keys. The triggers fire
 * behind those of `facet_count`, because their names do. A writer that changes a count of a source so holds the count of
 * that type and facet, and nobody else can hold the two in another order.
 */
export class SourceCounts1780000000053 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE source_count (
        workspace_id uuid NOT NULL,
        source text NOT NULL,
        sub_key smallint NOT NULL,
        facet smallint NOT NULL,
        n bigint NOT NULL,
        PRIMARY KEY (workspace_id, source, sub_key, facet)
      ) WITH (fillfactor = 50);
      COMMENT ON TABLE source_count IS 'Visible assets by source, sub key and facet; kept exact by triggers on asset.';
      ${tenantPolicy('source_count')}
    `);
    const added = 'SELECT workspace_id, source, sub_key, facet, 1 AS change FROM new_rows';
    const removed = 'SELECT workspace_id, source, sub_key, facet, -1 AS change FROM old_rows';
    await runner.query(`
      ${counter('count_inserted_sources', added)}
      ${counter('count_updated_sources', `${added} UNION ALL ${removed}`)}
      ${counter('count_deleted_sources', removed)}
      ${countingTriggers('sources')}
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP FUNCTION ${COUNTERS.join(', ')} CASCADE`);
    await runner.query('DROP TABLE source_count');
  }
}

/** SECURITY DEFINER, because the runtime role may not write counters. */
const counter = (name: string, changes: string): string => `
  CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp AS $$
  BEGIN
    INSERT INTO source_count AS counted (workspace_id, source, sub_key, facet, n)
    SELECT workspace_id, source, sub_key, facet, sum(change) FROM (${changes}) AS changes
     WHERE facet IS NOT NULL
     GROUP BY workspace_id, source, sub_key, facet
    HAVING sum(change) <> 0
     ORDER BY workspace_id, source, sub_key, facet
        ON CONFLICT (workspace_id, source, sub_key, facet) DO UPDATE SET n = counted.n + excluded.n;
    RETURN NULL;
  END $$;
  REVOKE ALL ON FUNCTION ${name} FROM PUBLIC;`;
