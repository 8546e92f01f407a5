import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Tells the planner how many facets and types there are. It plans a list by them without the values. Where all assets have
 * the same few facets, it took any of them for common, and read every asset in the order of the ids to find none.
 */
export class CellStatistics1780000000134 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE asset ALTER COLUMN facet SET (n_distinct = 16), ALTER COLUMN sub_key SET (n_distinct = 15)',
    );
    await runner.query('ANALYZE asset (facet, sub_key)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE asset ALTER COLUMN facet RESET (n_distinct), ALTER COLUMN sub_key RESET (n_distinct)',
    );
  }
}
