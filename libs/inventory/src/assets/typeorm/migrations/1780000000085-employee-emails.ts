import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndexConcurrently } from '#libs/platform/database';

/** Finds the employee whom an import names as an owner by e-mail, whatever the letter case. */
const INDEX = `asset (workspace_id, lower(email), id)
  WHERE sub_key = 15 AND facet IS NOT NULL AND char_length(email) <= 256`;

export class EmployeeEmails1780000000085 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await buildIndexConcurrently(runner, 'asset_employee_email', INDEX);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX asset_employee_email');
  }
}
