import { tenantPolicy } from '#libs/platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { type SummedCounter, countingTriggers, dropSummedCounter, summedCounter } from '../counters';

const OWNERS: SummedCounter = { what: 'owner', table: 'asset', column: 'owner_id', type: 'uuid', byFacet: false };

/**
 * Counts the visible assets of each owner, and those of each import source by type and facet.
 *
 * Sources are few, so they are counted like `facet_count`, and in the same order of keys. Their triggers fire behind those
 * of `facet_count`, because their names do. So a writer of a count of a source holds the count of that type and facet.
 * Nobody can hold the two in another order.
 */
export class ValueCounts1780000000041 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(summedCounter(OWNERS));
    const added = 'SELECT workspace_id, source, sub_key, facet, 1 AS change FROM new_rows';
    const removed = 'SELECT workspace_id, source, sub_key, facet, -1 AS change FROM old_rows';
    await runner.query(`
      ${SOURCE_COUNT}
      ${countingSources('count_inserted_sources', added)}
      ${countingSources('count_updated_sources', `${added} UNION ALL ${removed}`)}
      ${countingSources('count_deleted_sources', removed)}
      ${countingTriggers('sources')}
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ${dropSummedCounter(OWNERS)}
      DROP FUNCTION count_inserted_sources, count_updated_sources, count_deleted_sources CASCADE;
      DROP TABLE source_count`);
  }
}

const SOURCE_COUNT = `
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
    `;

const countingSources = (name: string, changes: string): string => `
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
