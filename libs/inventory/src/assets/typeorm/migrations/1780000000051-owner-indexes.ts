import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndexConcurrently } from '#libs/platform/database';

/**
 * The assets of an owner in the order of the id: by facet, apart for cloud assets and others, and by type and facet.
 * Removed assets are in the first one, so it also serves Postgres when it looks for the assets that a purged one owns.
 */
export class OwnerIndexes1780000000051 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const byFacet = '(workspace_id, owner_id, facet, (sub_key <= 11), id) WHERE owner_id IS NOT NULL';
    await buildIndexConcurrently(runner, 'asset_owner_facet', `asset ${byFacet}`);
    const byType = '(workspace_id, owner_id, sub_key, facet, id) WHERE owner_id IS NOT NULL AND facet IS NOT NULL';
    await buildIndexConcurrently(runner, 'asset_owner_sub_key', `asset ${byType}`);
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS asset_owner');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE INDEX asset_owner ON asset (workspace_id, owner_id, id) WHERE owner_id IS NOT NULL;
      DROP INDEX asset_owner_facet, asset_owner_sub_key`);
  }
}
