import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndexConcurrently } from '#libs/platform/database';

/**
 * An import brings many assets at once, so those of one source, and the computers, follow each other in the order of the id.
 * A page of them in that order must not pass over all assets that came before. The index of computers is there from the
 * release before, unless an earlier form of a migration dropped it.
 */
const INDEXES = {
  asset_source: 'asset (workspace_id, source, id) WHERE facet IS NOT NULL',
  asset_visible_computer: 'asset (workspace_id, id) WHERE facet IS NOT NULL AND sub_key = 12',
};

export class ClusteredAssets1780000000139 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const [name, definition] of Object.entries(INDEXES)) await buildIndexConcurrently(runner, name, definition);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX asset_source');
  }
}
