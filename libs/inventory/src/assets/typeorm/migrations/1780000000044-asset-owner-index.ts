import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndexConcurrently } from '#libs/platform/database';

/** The assets of an owner, removed ones too: to purge an asset, Postgres looks for those that it owns. */
export class AssetOwnerIndex1780000000044 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const definition = 'asset (workspace_id, owner_id, id) WHERE owner_id IS NOT NULL';
    await buildIndexConcurrently(runner, 'asset_owner', definition);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX asset_owner');
  }
}
