import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Alone, because it waits for all readers of the table. The migration that begins the history sets the times. */
export class HistoryBegin1780000000095 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE workspace
        ADD COLUMN history_begins_at timestamptz NOT NULL DEFAULT now(),
        ALTER COLUMN history_begins_at SET DEFAULT date_trunc('milliseconds', now());
      COMMENT ON COLUMN workspace.history_begins_at IS 'The first instant that can be asked for. It never moves back.';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE workspace DROP COLUMN history_begins_at');
  }
}
