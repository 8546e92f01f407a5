import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndexConcurrently } from '../../database/schema/concurrent-index';

/** Finds the change set that a former state names. */
export class ChangeSetIds1780000000096 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await buildIndexConcurrently(runner, 'change_set_by_id', 'change_set (workspace_id, id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX change_set_by_id');
  }
}
