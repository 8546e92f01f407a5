import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndexConcurrently } from '#libs/platform/database';

const PLACE = 'asset (workspace_id, change_id, sub_key, id)';

/**
 * The assets of a change set by category, in one index each for visible and removed ones. So readers of the feed who begin
 * do not pass over removed assets.
 */
export class AssetChangeIndex1780000000032 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await buildIndexConcurrently(runner, 'asset_change_visible', `${PLACE} WHERE facet IS NOT NULL`);
    await buildIndexConcurrently(runner, 'asset_change_removed', `${PLACE} WHERE facet IS NULL`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX asset_change_visible, asset_change_removed');
  }
}
