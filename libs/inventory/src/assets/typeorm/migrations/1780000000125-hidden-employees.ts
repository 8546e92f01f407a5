import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndexConcurrently } from '#libs/platform/database';

/** Finds assets of employees who left, for lists of any feature. Addresses have the index of imports, in any letter case. */
export class HiddenEmployees1780000000125 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const definition = 'asset (workspace_id, public_id) WHERE sub_key = 15 AND facet IS NULL';
    await buildIndexConcurrently(runner, 'asset_hidden_employee', definition);
    // security_invoker: the reader's own row-level security holds, not that of the view's owner.
    await runner.query(`
      CREATE OR REPLACE VIEW hidden_employee WITH (security_invoker = true) AS
        SELECT workspace_id, public_id AS owner_id FROM asset WHERE sub_key = 15 AND facet IS NULL`);
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS asset_email');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE INDEX asset_email ON asset (workspace_id, email COLLATE "C", id)
       WHERE facet IS NOT NULL AND char_length(email) <= 256`);
    await runner.query('DROP VIEW hidden_employee');
    await runner.query('DROP INDEX asset_hidden_employee');
  }
}
