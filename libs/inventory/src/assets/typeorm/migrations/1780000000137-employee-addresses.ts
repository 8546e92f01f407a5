import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndexConcurrently } from '#libs/platform/database';

const [OF_EMPLOYEES, LOWER] = ['asset_employee_address', 'asset_employee_email'];
const WHERE = 'WHERE sub_key = 15 AND facet IS NOT NULL AND char_length(email) <= 256';

/**
 * Finds an employee by address, whatever the letter case. An index of `lower(email)` was of no use: beside row-level
 * security Postgres looks up nothing by a function that could leak, so it read every employee.
 */
export class EmployeeAddresses1780000000137 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE COLLATION IF NOT EXISTS case_blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
    );
    await buildIndexConcurrently(runner, OF_EMPLOYEES, `asset (workspace_id, email COLLATE case_blind, id) ${WHERE}`);
    await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${LOWER}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE INDEX ${LOWER} ON asset (workspace_id, lower(email), id) ${WHERE}`);
    await runner.query(`DROP INDEX ${OF_EMPLOYEES}`);
    await runner.query('DROP COLLATION case_blind');
  }
}
