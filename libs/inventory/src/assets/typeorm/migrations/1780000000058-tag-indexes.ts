import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndexConcurrently } from '#libs/platform/database';

/**
 * The assets of a tag key in the order of the id: all visible ones, by facet, apart for cloud assets and others, and by
 * type and facet. The second one holds hidden assets too, and takes the place of `asset_tag_by_key`.
 */
export class TagIndexes1780000000058 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const visible = '(workspace_id, tag_key_id, asset_id) WHERE facet IS NOT NULL';
    await buildIndexConcurrently(runner, 'asset_tag_visible', `asset_tag ${visible}`);
    const byFacet = '(workspace_id, tag_key_id, facet, (sub_key <= 11), asset_id)';
    await buildIndexConcurrently(runner, 'asset_tag_facet', `asset_tag ${byFacet}`);
    const byType = '(workspace_id, tag_key_id, sub_key, facet, asset_id) WHERE facet IS NOT NULL';
    await buildIndexConcurrently(runner, 'asset_tag_sub_key', `asset_tag ${byType}`);
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS asset_tag_by_key');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE INDEX asset_tag_by_key ON asset_tag (workspace_id, tag_key_id);
      DROP INDEX asset_tag_visible, asset_tag_facet, asset_tag_sub_key`);
  }
}
