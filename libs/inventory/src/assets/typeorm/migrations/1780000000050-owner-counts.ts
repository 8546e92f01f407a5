import { tenantPolicy } from '#libs/platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const COUNTERS = ['count_inserted_owners', 'count_updated_owners', 'count_deleted_owners'];

/**
 * Counts the visible assets of each owner, the way `tag_count` counts those of a tag key: a statement adds one row per
 * owner that it changes, and the count is the sum. So an import and an update may name owners in any order.
 */
export class OwnerCounts1780000000050 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE owner_count (
        workspace_id uuid NOT NULL,
        owner_id uuid NOT NULL,
        id bigint GENERATED ALWAYS AS IDENTITY,
        n bigint NOT NULL,
        PRIMARY KEY (workspace_id, owner_id, id)
      );
      COMMENT ON TABLE owner_count IS 'Visible assets by owner: the sum of n; kept exact by triggers on asset.';
      ${tenantPolicy('owner_count')}
    `);
    await runner.query(`
      -- One writer in fifty folds the rows of its owners into one each, and skips those that another one is folding.
      CREATE FUNCTION fold_owner_counts(owners uuid[]) RETURNS void LANGUAGE plpgsql
        SET search_path = pg_catalog, public, pg_temp AS $$
      BEGIN
        IF owners IS NULL OR random() > 0.02 THEN RETURN; END IF;
        WITH folded AS (
          DELETE FROM owner_count WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM owner_count
             WHERE workspace_id = NULLIF(current_setting('app.workspace_id', true), '')::uuid
               AND owner_id = ANY (owners)
               FOR UPDATE SKIP LOCKED))
          RETURNING workspace_id, owner_id, n)
        INSERT INTO owner_count (workspace_id, owner_id, n)
        SELECT workspace_id, owner_id, sum(n) FROM folded GROUP BY workspace_id, owner_id HAVING sum(n) <> 0;
      END $$;
      REVOKE ALL ON FUNCTION fold_owner_counts FROM PUBLIC;
    `);
    const added = 'SELECT workspace_id, owner_id, facet, 1 AS change FROM new_rows';
    const removed = 'SELECT workspace_id, owner_id, facet, -1 AS change FROM old_rows';
    await runner.query(`
      ${counter('count_inserted_owners', added)}
      ${counter('count_updated_owners', `${added} UNION ALL ${removed}`)}
      ${counter('count_deleted_owners', removed)}
      CREATE TRIGGER count_inserted_owners AFTER INSERT ON asset
        REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_inserted_owners();
      CREATE TRIGGER count_updated_owners AFTER UPDATE ON asset
        REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_updated_owners();
      CREATE TRIGGER count_deleted_owners AFTER DELETE ON asset
        REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION count_deleted_owners();
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP FUNCTION ${COUNTERS.join(', ')} CASCADE`);
    await runner.query('DROP FUNCTION fold_owner_counts; DROP TABLE owner_count');
  }
}

/** SECURITY DEFINER, because the runtime role may not write counters. */
const counter = (name: string, changes: string): string => `
  CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp AS $$
  DECLARE owners uuid[];
  BEGIN
    WITH added AS (
      INSERT INTO owner_count (workspace_id, owner_id, n)
      SELECT workspace_id, owner_id, sum(change) FROM (${changes}) AS changes
       WHERE facet IS NOT NULL AND owner_id IS NOT NULL
       GROUP BY workspace_id, owner_id HAVING sum(change) <> 0
      RETURNING owner_id)
    SELECT array_agg(owner_id) INTO owners FROM added;
    PERFORM fold_owner_counts(owners);
    RETURN NULL;
  END $$;
  REVOKE ALL ON FUNCTION ${name} FROM PUBLIC;`;
