import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Employees as owners, for lists of any feature. */
export class VisibleOwners1780000000092 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // security_invoker: the reader's own row-level security holds, not that of the view's owner.
    await runner.query(`
      CREATE VIEW visible_owner WITH (security_invoker = true) AS
        SELECT workspace_id, public_id AS owner_id,
               jsonb_build_object('id', public_id, 'name', name, 'email', email) AS shown
          FROM asset WHERE sub_key = 15 AND facet IS NOT NULL`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP VIEW visible_owner');
  }
}
