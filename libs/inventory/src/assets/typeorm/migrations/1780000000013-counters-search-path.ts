import type { MigrationInterface, QueryRunner } from 'typeorm';

const COUNTERS = ['count_inserted_facets', 'count_updated_facets', 'count_deleted_facets'];

/**
 * The counter functions run with the owner's rights. A search path without pg_temp searches it first, so temporary
 * tables could shadow ours. Named last, it is searched last.
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
