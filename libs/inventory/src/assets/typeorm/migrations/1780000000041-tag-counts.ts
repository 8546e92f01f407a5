import { tenantPolicy } from '#libs/platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const COUNTERS = ['count_inserted_tags', 'count_deleted_tags', 'count_shown_tags'];

/**
 * Counts the visible assets of each tag key. A statement adds one row per key that it changes, and the count is the sum.
 * Nobody waits for a row that another writer holds, so counting can neither block nor deadlock, in whatever order a
 * transaction names its keys.
 */
export class TagCounts1780000000041 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE tag_count (
        workspace_id uuid NOT NULL,
        tag_key_id bigint NOT NULL,
        id bigint GENERATED ALWAYS AS IDENTITY,
        n bigint NOT NULL,
        PRIMARY KEY (workspace_id, tag_key_id, id)
      );
      COMMENT ON TABLE tag_count IS 'Visible assets by tag key: the sum of n; kept exact by triggers on asset and asset_tag.';
      ${tenantPolicy('tag_count')}
    `);
    await runner.query(`
      -- One writer in fifty folds the rows of its keys into one each, and skips those that another one is folding.
      CREATE FUNCTION fold_tag_counts(keys bigint[]) RETURNS void LANGUAGE plpgsql
        SET search_path = pg_catalog, public, pg_temp AS $$
      BEGIN
        IF keys IS NULL OR random() > 0.02 THEN RETURN; END IF;
        WITH folded AS (
          DELETE FROM tag_count WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM tag_count
             WHERE workspace_id = NULLIF(current_setting('app.workspace_id', true), '')::uuid
               AND tag_key_id = ANY (keys)
               FOR UPDATE SKIP LOCKED))
          RETURNING workspace_id, tag_key_id, n)
        INSERT INTO tag_count (workspace_id, tag_key_id, n)
        SELECT workspace_id, tag_key_id, sum(n) FROM folded GROUP BY workspace_id, tag_key_id HAVING sum(n) <> 0;
      END $$;
      REVOKE ALL ON FUNCTION fold_tag_counts FROM PUBLIC;
    `);
    // LIMIT 1 and OFFSET 0 only affect the plan: one index lookup per row, whatever the statistics say.
    const ofVisible = (rows: string, change: number): string => `
      SELECT workspace_id, tag_key_id, ${change} AS change FROM ${rows} AS tag
       WHERE (SELECT facet IS NOT NULL FROM asset
               WHERE asset.workspace_id = tag.workspace_id AND asset.id = tag.asset_id LIMIT 1)`;
    const ofShownAndHidden = `
      SELECT tag.workspace_id, tag.tag_key_id, flip.change FROM (
        SELECT workspace_id, id, sum(change) AS change FROM (
          SELECT workspace_id, id, 1 AS change FROM new_rows WHERE facet IS NOT NULL
          UNION ALL SELECT workspace_id, id, -1 FROM old_rows WHERE facet IS NOT NULL) AS seen
         GROUP BY workspace_id, id HAVING sum(change) <> 0) AS flip
       CROSS JOIN LATERAL (
         SELECT workspace_id, tag_key_id FROM asset_tag
          WHERE asset_tag.workspace_id = flip.workspace_id AND asset_tag.asset_id = flip.id OFFSET 0) AS tag`;
    await runner.query(`
      ${counter('count_inserted_tags', ofVisible('new_rows', 1))}
      ${counter('count_deleted_tags', ofVisible('old_rows', -1))}
      ${counter('count_shown_tags', ofShownAndHidden, NOTHING_HIDDEN)}
      CREATE TRIGGER count_inserted_tags AFTER INSERT ON asset_tag
        REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_inserted_tags();
      CREATE TRIGGER count_deleted_tags AFTER DELETE ON asset_tag
        REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION count_deleted_tags();
      CREATE TRIGGER count_shown_tags AFTER UPDATE ON asset
        REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_shown_tags();
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP FUNCTION ${COUNTERS.join(', ')} CASCADE`);
    await runner.query('DROP FUNCTION fold_tag_counts; DROP TABLE tag_count');
  }
}

/** Most updates touch visible assets and leave them visible: for these nothing is compared. */
const NOTHING_HIDDEN = `IF NOT EXISTS (SELECT FROM old_rows WHERE facet IS NULL)
       AND NOT EXISTS (SELECT FROM new_rows WHERE facet IS NULL) THEN RETURN NULL; END IF;`;

/** SECURITY DEFINER, because the runtime role may not write counters. */
const counter = (name: string, changes: string, unless = ''): string => `
  CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp AS $$
  DECLARE keys bigint[];
  BEGIN
    ${unless}
    WITH added AS (
      INSERT INTO tag_count (workspace_id, tag_key_id, n)
      SELECT workspace_id, tag_key_id, sum(change) FROM (${changes}) AS changes
       GROUP BY workspace_id, tag_key_id HAVING sum(change) <> 0
      RETURNING tag_key_id)
    SELECT array_agg(tag_key_id) INTO keys FROM added;
    PERFORM fold_tag_counts(keys);
    RETURN NULL;
  END $$;
  REVOKE ALL ON FUNCTION ${name} FROM PUBLIC;`;
