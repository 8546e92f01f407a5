import type { MigrationInterface, QueryRunner } from 'typeorm';
import { inEachWorkspace } from '../counters';

/**
 * Adds what the triggers have not counted, one workspace after the other. Each statement compares within one snapshot, so
 * it locks nothing and may run while assets change. A second run adds nothing.
 */
export class CountExistingTags1780000000042 implements MigrationInterface {
  /** Each workspace commits by itself. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      inEachWorkspace(`
          -- small: one row per tag key
          INSERT INTO tag_count (workspace_id, tag_key_id, n)
          SELECT workspace.id, tag_key_id, sum(n) FROM (
            SELECT asset_tag.tag_key_id, count(*) AS n
              FROM asset_tag JOIN asset ON asset.workspace_id = asset_tag.workspace_id AND asset.id = asset_tag.asset_id
             WHERE asset_tag.workspace_id = workspace.id AND asset.facet IS NOT NULL GROUP BY asset_tag.tag_key_id
            UNION ALL
            SELECT tag_key_id, -sum(n) FROM tag_count WHERE workspace_id = workspace.id GROUP BY tag_key_id) AS counts
           GROUP BY tag_key_id HAVING sum(n) <> 0;
      `),
    );
  }

  async down(): Promise<void> {
    // The counts stay right.
  }
}
