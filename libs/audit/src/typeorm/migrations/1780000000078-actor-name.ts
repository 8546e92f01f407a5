import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The operator behind an event. A column without a default touches no row. */
export class ActorName1780000000078 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE audit_event ADD COLUMN actor_name text;
      COMMENT ON COLUMN audit_event.actor_name IS
        'Who acted as OPERATOR or IMPORT, empty for applications. NULL in events from before the column: they show no name.';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE audit_event DROP COLUMN actor_name');
  }
}
