import type { MigrationInterface, QueryRunner } from 'typeorm';
import { type SummedCounter, foldFunction, summedTable, summingFunction } from '../counters';

const TAGS: SummedCounter = {
  what: 'tag',
  column: 'tag_key_id',
  type: 'bigint',
  keys: 'keys',
  comment: 'Visible assets by tag key: the sum of n; kept exact by triggers on asset and asset_tag.',
};
const COUNTERS = ['count_inserted_tags', 'count_deleted_tags', 'count_shown_tags'];

/**
 * Counts the visible assets of each tag key. A statement adds one row per key that it changes, and the count is the sum.
 * Nobody waits for a row that another writer holds, so counting can neither block nor deadlock, in whatever order a
 * transaction names its keys.
 */
export class TagCounts1780000000041 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(summedTable(TAGS));
    await runner.query(foldFunction(TAGS));
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
      ${summingFunction(TAGS, 'count_inserted_tags', ofVisible('new_rows', 1))}
      ${summingFunction(TAGS, 'count_deleted_tags', ofVisible('old_rows', -1))}
      ${summingFunction(TAGS, 'count_shown_tags', ofShownAndHidden, { unless: NOTHING_HIDDEN })}
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
