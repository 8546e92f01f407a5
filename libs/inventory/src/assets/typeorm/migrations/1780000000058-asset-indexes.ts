import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndexConcurrently } from '#libs/platform/database';

const CHANGE = '(workspace_id, change_id, sub_key, id)';
/** Texts of more characters are left out: no filter asks for them, and an entry may not be longer than 2,704 bytes. */
const byFacet = (column: string): string =>
  `(workspace_id, ${column} COLLATE "C", facet, id) WHERE facet IS NOT NULL AND char_length(${column}) <= 256`;

/**
 * The assets of an owner, a source and a tag key in the order of the id. One index is by facet, apart for cloud assets and
 * others, and one is by type and facet. Those of a name, a serial number and an e-mail address have one by facet.
 *
 * Removed assets are in the index of owners too: to purge an asset, Postgres looks for those that it owns. They are in that
 * of tag keys, which takes the place of `asset_tag_by_key`.
 *
 * The assets of a change set have one index each for visible and removed ones. So readers of the feed who begin do not pass
 * over removed assets.
 */
const INDEXES = {
  asset: {
    asset_change_visible: `${CHANGE} WHERE facet IS NOT NULL`,
    asset_change_removed: `${CHANGE} WHERE facet IS NULL`,
    asset_owner_facet: '(workspace_id, owner_id, facet, (sub_key <= 11), id) WHERE owner_id IS NOT NULL',
    asset_owner_sub_key:
      '(workspace_id, owner_id, sub_key, facet, id) WHERE owner_id IS NOT NULL AND facet IS NOT NULL',
    asset_source_facet: '(workspace_id, source, facet, (sub_key <= 11), id) WHERE facet IS NOT NULL',
    asset_source_sub_key: '(workspace_id, source, sub_key, facet, id) WHERE facet IS NOT NULL',
    asset_name: byFacet('name'),
    asset_serial_number: byFacet('serial_number'),
    asset_email: byFacet('email'),
  },
  asset_tag: {
    asset_tag_visible: '(workspace_id, tag_key_id, asset_id) WHERE facet IS NOT NULL',
    asset_tag_facet: '(workspace_id, tag_key_id, facet, (sub_key <= 11), asset_id)',
    asset_tag_sub_key: '(workspace_id, tag_key_id, sub_key, facet, asset_id) WHERE facet IS NOT NULL',
  },
};

export class AssetIndexes1780000000058 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const [table, indexes] of Object.entries(INDEXES)) {
      for (const [name, definition] of Object.entries(indexes)) {
        await buildIndexConcurrently(runner, name, `${table} ${definition}`);
      }
    }
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS asset_tag_by_key');
  }

  async down(runner: QueryRunner): Promise<void> {
    const names = Object.values(INDEXES).flatMap((indexes) => Object.keys(indexes));
    await runner.query(`
      CREATE INDEX asset_tag_by_key ON asset_tag (workspace_id, tag_key_id);
      DROP INDEX ${names.join(', ')}`);
  }
}
