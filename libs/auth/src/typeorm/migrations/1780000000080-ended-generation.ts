import type { MigrationInterface, QueryRunner } from 'typeorm';

export class EndedGeneration1780000000080 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE application ADD COLUMN ended_generation bigint NOT NULL DEFAULT 0;
      COMMENT ON COLUMN application.ended_generation IS
        'An act of an operator ended the tokens up to this generation, and their streams. A newer token alone ends no stream.';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE application DROP COLUMN ended_generation');
  }
}
