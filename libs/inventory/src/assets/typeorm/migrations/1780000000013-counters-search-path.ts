import type { MigrationInterface, QueryRunner } from 'typeorm';

const COUNTERS = ['count_inserted_facets', 'count_updated_facets', 'count_deleted_facets'];

/**
 * The counters run with the rights of the owner. A search path that does not name pg_temp has it first: whoever may make
 * temporary tables could pass one for ours. Named last, it is looked at last.
 */
export class CountersSearchPath1780000000013 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const name of COUNTERS) {
      await runner.query(`ALTER FUNCTION ${name} SET search_path = pg_catalog, public, pg_temp`);
      await runner.query(`REVOKE ALL ON FUNCTION ${name} FROM PUBLIC`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const name of COUNTERS) await runner.query(`ALTER FUNCTION ${name} SET search_path = pg_catalog, public`);
  }
}
