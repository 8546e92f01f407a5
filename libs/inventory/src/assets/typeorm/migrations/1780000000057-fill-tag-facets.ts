import type { MigrationInterface, QueryRunner } from 'typeorm';

const BATCH = 5_000;

/**
 * Fills type and facet of the tags that were there before, in batches. Tags that a writer has locked are skipped, so
 * neither waits for the other in a circle: its trigger fills them, or the next round does.
 */
export class FillTagFacets1780000000057 implements MigrationInterface {
  /** Each batch commits by itself. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DO $$
      DECLARE
        workspace record;
        after bigint;
        missed boolean;
      BEGIN
        FOR workspace IN SELECT id FROM workspace ORDER BY id LOOP
          LOOP
            after := 0;
            missed := false;
            LOOP
              PERFORM set_config('app.workspace_id', workspace.id::text, true);
              -- small: one batch
              WITH batch AS (
                SELECT asset_id, tag_key_id FROM asset_tag
                 WHERE workspace_id = workspace.id AND asset_id > after ORDER BY asset_id LIMIT ${BATCH}
              ), locked AS (
                SELECT tag.asset_id, tag.tag_key_id FROM asset_tag AS tag JOIN batch USING (asset_id, tag_key_id)
                 WHERE tag.workspace_id = workspace.id AND tag.sub_key IS NULL FOR UPDATE OF tag SKIP LOCKED
              ), filled AS (
                UPDATE asset_tag AS tag SET sub_key = asset.sub_key, facet = asset.facet
                  FROM locked JOIN asset ON asset.workspace_id = workspace.id AND asset.id = locked.asset_id
                 WHERE tag.workspace_id = workspace.id AND tag.asset_id = locked.asset_id
                   AND tag.tag_key_id = locked.tag_key_id)
              SELECT max(asset_id) FROM batch INTO after;
              COMMIT;
              EXIT WHEN after IS NULL;
            END LOOP;
            PERFORM set_config('app.workspace_id', workspace.id::text, true);
            SELECT EXISTS (SELECT FROM asset_tag WHERE workspace_id = workspace.id AND sub_key IS NULL) INTO missed;
            COMMIT;
            EXIT WHEN NOT missed;
            PERFORM pg_sleep(0.1);
          END LOOP;
        END LOOP;
      END $$`);
  }

  async down(): Promise<void> {
    // The columns stay right.
  }
}
