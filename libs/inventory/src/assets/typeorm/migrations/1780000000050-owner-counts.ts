import type { MigrationInterface, QueryRunner } from 'typeorm';
import { type SummedCounter, countingTriggers, foldFunction, summedTable, summingFunction } from '../counters';

const OWNERS: SummedCounter = {
  what: 'owner',
  column: 'owner_id',
  type: 'uuid',
  keys: 'owners',
  comment: 'Visible assets by owner: the sum of n; kept exact by triggers on asset.',
};
const COUNTERS = ['count_inserted_owners', 'count_updated_owners', 'count_deleted_owners'];

/**
 * Counts the visible assets of each owner, the way `tag_count` counts those of a tag key: a statement adds one row per
 * owner that it changes, and the count is the sum. So an import and an update may name owners in any order.
 */
export class OwnerCounts1780000000050 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(summedTable(OWNERS));
    await runner.query(foldFunction(OWNERS));
    const counter = (name: string, changes: string): string =>
      summingFunction(OWNERS, name, changes, { where: 'WHERE facet IS NOT NULL AND owner_id IS NOT NULL' });
    const added = 'SELECT workspace_id, owner_id, facet, 1 AS change FROM new_rows';
    const removed = 'SELECT workspace_id, owner_id, facet, -1 AS change FROM old_rows';
    await runner.query(`
      ${counter('count_inserted_owners', added)}
      ${counter('count_updated_owners', `${added} UNION ALL ${removed}`)}
      ${counter('count_deleted_owners', removed)}
      ${countingTriggers('owners')}
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP FUNCTION ${COUNTERS.join(', ')} CASCADE`);
    await runner.query('DROP FUNCTION fold_owner_counts; DROP TABLE owner_count');
  }
}
