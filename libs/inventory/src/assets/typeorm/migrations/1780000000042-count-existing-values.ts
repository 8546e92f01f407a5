import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds what the triggers have not counted in a workspace, in the order of the keys. */
const addMissing = (table: string, keys: string, existing: string, conflict = ''): string => `
          -- small: some rows per key
          INSERT INTO ${table} AS counted (workspace_id, ${keys}, n)
          SELECT workspace.id, ${keys}, sum(n) FROM (
            ${existing} GROUP BY ${keys}
            UNION ALL SELECT ${keys}, -n FROM ${table} WHERE workspace_id = workspace.id) AS counts
           GROUP BY ${keys} HAVING sum(n) <> 0
           ORDER BY ${keys} ${conflict};`;

const visible = (keys: string): string => `
            SELECT ${keys}, count(*) AS n FROM asset WHERE workspace_id = workspace.id AND facet IS NOT NULL`;
const SOURCE = 'source, sub_key, facet';

/**
 * Counts the assets that were there before the triggers, one workspace after the other. Each statement compares within one
 * snapshot, so assets may change meanwhile. A second run adds nothing.
 */
export class CountExistingValues1780000000042 implements MigrationInterface {
  /** Each workspace commits by itself. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [
      addMissing('owner_count', 'owner_id', `${visible('owner_id')} AND owner_id IS NOT NULL`),
      addMissing(
        ...(['source_count', SOURCE, visible(SOURCE)] as const),
        `ON CONFLICT (workspace_id, ${SOURCE}) DO UPDATE SET n = counted.n + excluded.n`,
      ),
    ]) {
      await runner.query(`
      DO $$
      DECLARE workspace record;
      BEGIN
        FOR workspace IN SELECT id FROM workspace ORDER BY id LOOP
          PERFORM set_config('app.workspace_id', workspace.id::text, true);
          ${statement}
          COMMIT;
        END LOOP;
      END $$`);
    }
  }

  async down(): Promise<void> {
    // The counts stay right.
  }
}
