import type { MigrationInterface, QueryRunner } from 'typeorm';
import { POSTURE } from './1780000000060-listed-computers';

/**
 * Lists the computers that were there before the triggers. Each batch locks its assets, so that none is hidden between
 * reading and listing it. A second run adds nothing.
 */
export class ListExistingComputers1780000000061 implements MigrationInterface {
  /** Each batch commits by itself. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DO $$
      DECLARE workspace record; after bigint; batch_end bigint;
      BEGIN
        FOR workspace IN SELECT id FROM workspace ORDER BY id LOOP
          after := 0;
          LOOP
            PERFORM set_config('app.workspace_id', workspace.id::text, true);
            SELECT max(id) INTO batch_end FROM (
              SELECT id FROM asset WHERE workspace_id = workspace.id AND sub_key = 12 AND facet IS NOT NULL AND id > after
               ORDER BY id LIMIT 2000 FOR NO KEY UPDATE) AS batch;
            EXIT WHEN batch_end IS NULL;
            -- small: a batch of 2,000 at most
            INSERT INTO listed_computer (workspace_id, id, posture, owner_id, source, last_checked_at)
            SELECT asset.workspace_id, asset.id, ${POSTURE}, asset.owner_id, asset.source, asset.last_checked_at
              FROM asset
              LEFT JOIN computer ON computer.workspace_id = asset.workspace_id AND computer.asset_id = asset.id
             WHERE asset.workspace_id = workspace.id AND asset.sub_key = 12 AND asset.facet IS NOT NULL
               AND asset.id > after AND asset.id <= batch_end
                ON CONFLICT DO NOTHING;
            after := batch_end;
            COMMIT;
          END LOOP;
        END LOOP;
      END $$`);
  }

  async down(): Promise<void> {
    // The list stays right.
  }
}
