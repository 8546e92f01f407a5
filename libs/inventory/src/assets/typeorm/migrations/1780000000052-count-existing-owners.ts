import type { MigrationInterface, QueryRunner } from 'typeorm';
import { inEachWorkspace } from '../counters';

/**
 * Adds what the triggers have not counted, one workspace after the other. Each statement compares within one snapshot, so
 * it locks nothing and may run while assets change. A second run adds nothing.
 */
export class CountExistingOwners1780000000052 implements MigrationInterface {
  /** Each workspace commits by itself. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      inEachWorkspace(`
          -- small: one row per owner
          INSERT INTO owner_count (workspace_id, owner_id, n)
          SELECT workspace.id, owner_id, sum(n) FROM (
            SELECT owner_id, count(*) AS n FROM asset
             WHERE workspace_id = workspace.id AND facet IS NOT NULL AND owner_id IS NOT NULL GROUP BY owner_id
            UNION ALL
            SELECT owner_id, -sum(n) FROM owner_count WHERE workspace_id = workspace.id GROUP BY owner_id) AS counts
           GROUP BY owner_id HAVING sum(n) <> 0;
      `),
    );
  }

  async down(): Promise<void> {
    // The counts stay right.
  }
}
