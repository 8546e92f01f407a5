import type { MigrationInterface, QueryRunner } from 'typeorm';
import { inEachWorkspace } from '../counters';

/**
 * Adds what the triggers have not counted, one workspace after the other. Each statement compares within one snapshot.
 * Adding the difference locks counters only at its end, in the order of the keys. A second run adds nothing.
 */
export class CountExistingSources1780000000055 implements MigrationInterface {
  /** Each workspace commits by itself. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      inEachWorkspace(`
          -- small: at most 240 rows per source
          INSERT INTO source_count AS counted (workspace_id, source, sub_key, facet, n)
          SELECT workspace.id, source, sub_key, facet, sum(n) FROM (
            SELECT source, sub_key, facet, count(*) AS n FROM asset
             WHERE workspace_id = workspace.id AND facet IS NOT NULL GROUP BY source, sub_key, facet
            UNION ALL
            SELECT source, sub_key, facet, -n FROM source_count WHERE workspace_id = workspace.id) AS counts
           GROUP BY source, sub_key, facet HAVING sum(n) <> 0
           ORDER BY source, sub_key, facet
              ON CONFLICT (workspace_id, source, sub_key, facet) DO UPDATE SET n = counted.n + excluded.n;
      `),
    );
  }

  async down(): Promise<void> {
    // The counts stay right.
  }
}
