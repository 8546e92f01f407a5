import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndexConcurrently } from '#libs/platform/database';

/** The assets of a change set by category. Not partial: the feed tells of removed assets too. */
export class AssetChangeIndex1780000000032 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await buildIndexConcurrently(runner, 'asset_change', 'asset (workspace_id, change_id, sub_key, id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX asset_change');
  }
}
