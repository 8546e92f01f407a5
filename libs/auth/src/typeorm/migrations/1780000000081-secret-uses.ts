import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When each secret was made and last used. Columns without a default touch no row. */
export class SecretUses1780000000081 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE application
        ADD COLUMN secret_created_at timestamptz,
        ADD COLUMN secret_last_used_at timestamptz,
        ADD COLUMN previous_secret_created_at timestamptz,
        ADD COLUMN previous_secret_last_used_at timestamptz;
      COMMENT ON COLUMN application.secret_created_at IS 'NULL where the secret is older than this column.';
      COMMENT ON COLUMN application.secret_last_used_at IS
        'When a token was issued for the secret. Equals issued_at where the newest token is one of this secret.';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE application DROP COLUMN secret_created_at, DROP COLUMN secret_last_used_at,
        DROP COLUMN previous_secret_created_at, DROP COLUMN previous_secret_last_used_at`);
  }
}
