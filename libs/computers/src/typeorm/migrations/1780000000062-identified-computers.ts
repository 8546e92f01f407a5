import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The view through which visible computers are found by their identifiers. */
export class IdentifiedComputers1780000000062 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE VIEW identified_computer WITH (security_invoker = true) AS
        SELECT workspace_id, id, source, external_id, serial_number
          FROM asset WHERE facet IS NOT NULL AND sub_key = 12`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP VIEW identified_computer');
  }
}
