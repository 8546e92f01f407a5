import type { MigrationInterface, QueryRunner } from 'typeorm';
import { postureOf } from '../computer.row';

/** Adds what the triggers have not counted in a workspace, in the order of the keys. */
const addMissing = (table: string, keys: string, visible: string): string => `
            -- small: some rows per key
            INSERT INTO ${table} AS counted (workspace_id, ${keys}, n)
            SELECT workspace.id, ${keys}, sum(n) FROM (
              SELECT ${keys}, 1 AS n FROM ${visible} AND facet IS NOT NULL
              UNION ALL SELECT ${keys}, -n FROM ${table} WHERE workspace_id = workspace.id) AS counts
             GROUP BY ${keys} HAVING sum(n) <> 0 ORDER BY ${keys}
                ON CONFLICT (workspace_id, ${keys}) DO UPDATE SET n = counted.n + excluded.n;
            COMMIT;
            PERFORM set_config('app.workspace_id', workspace.id::text, true);`;

/**
 * Counts the assets that were there before the triggers, one workspace after the other. Each statement compares within one
 * snapshot, so assets may change meanwhile. Then it computes the postures of computers in batches, whose rows it locks in
 * the order of their ids. A second run adds nothing.
 */
export class FillCountsAndPostures1780000000042 implements MigrationInterface {
  /** Each batch commits by itself. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DO $$
      DECLARE workspace record; after bigint; batch_end bigint;
      BEGIN
        FOR workspace IN SELECT id FROM workspace ORDER BY id LOOP
          PERFORM set_config('app.workspace_id', workspace.id::text, true);
          ${addMissing('source_count', 'source, sub_key, facet', 'asset WHERE workspace_id = workspace.id')}
          ${addMissing(
            'tag_count',
            'tag_key_id, sub_key, facet',
            `asset_tag JOIN asset ON asset.workspace_id = workspace.id AND asset.id = asset_id
                    WHERE asset_tag.workspace_id = workspace.id`,
          )}
          after := 0;
          LOOP
            PERFORM set_config('app.workspace_id', workspace.id::text, true);
            SELECT max(id) INTO batch_end FROM (
              SELECT id FROM asset WHERE workspace_id = workspace.id AND sub_key = 12 AND posture IS NULL AND id > after
               ORDER BY id LIMIT 2000 FOR NO KEY UPDATE) AS batch;
            EXIT WHEN batch_end IS NULL;
            -- small: a batch of 2,000 at most
            UPDATE asset SET posture = (
              SELECT ${postureOf('computer')} FROM (SELECT) AS one
                LEFT JOIN computer ON computer.workspace_id = workspace.id AND computer.asset_id = asset.id)
             WHERE workspace_id = workspace.id AND sub_key = 12 AND posture IS NULL AND id > after AND id <= batch_end;
            after := batch_end;
            COMMIT;
          END LOOP;
        END LOOP;
      END $$`);
  }

  async down(): Promise<void> {
    // The counts stay right.
  }
}
