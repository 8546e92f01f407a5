import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndexConcurrently } from '#libs/platform/database';

/** Texts of more characters are left out: no filter asks for them, and an entry may not be longer than 2,704 bytes. */
const ofText = (column: string): string =>
  `(workspace_id, ${column} COLLATE "C", id) WHERE facet IS NOT NULL AND char_length(${column}) <= 256`;

/**
 * One index for each column of a filter, in the order of the id. Those of postures also hold the last check, so that a list
 * of computers by it reads no row in vain.
 *
 * Removed assets are in the index of owners too: to purge an asset, Postgres looks for those that it owns. They are behind
 * the visible ones of their change set, so that readers of the feed who begin do not pass over them.
 */
const INDEXES = {
  asset_change: 'asset (workspace_id, change_id, (facet IS NULL), sub_key, id)',
  asset_owner: 'asset (workspace_id, owner_id, id) INCLUDE (facet) WHERE owner_id IS NOT NULL',
  asset_name: `asset ${ofText('name')}`,
  asset_serial_number: `asset ${ofText('serial_number')}`,
  asset_email: `asset ${ofText('email')}`,
  asset_source: 'asset (workspace_id, source, id) WHERE facet IS NOT NULL',
  asset_posture: 'asset (workspace_id, posture, id) INCLUDE (last_checked_at) WHERE facet IS NOT NULL AND sub_key = 12',
  asset_tag_key: 'asset_tag (workspace_id, tag_key_id, asset_id)',
};

export class AssetIndexes1780000000058 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const [name, definition] of Object.entries(INDEXES)) await buildIndexConcurrently(runner, name, definition);
    // That of the release before, whose place the last one takes.
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS asset_tag_by_key');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX asset_tag_by_key ON asset_tag (workspace_id, tag_key_id)');
    await runner.query(`DROP INDEX ${Object.keys(INDEXES).join(', ')}`);
  }
}
