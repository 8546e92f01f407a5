import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndexConcurrently } from '#libs/platform/database';

/**
 * Finds an employee by address, whatever the letter case. An index of `lower(email)` would be of no use: beside row-level
 * security Postgres looks up nothing by a function that could leak, and would read every employee.
 */
const INDEX = `asset (workspace_id, email COLLATE case_blind, id)
  WHERE sub_key = 15 AND facet IS NOT NULL AND char_length(email) <= 256`;

export class EmployeeEmails1780000000085 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE COLLATION IF NOT EXISTS case_blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
    );
    await buildIndexConcurrently(runner, 'asset_employee_address', INDEX);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX asset_employee_address');
    await runner.query('DROP COLLATION case_blind');
  }
}
