import type { MigrationInterface, QueryRunner } from 'typeorm';
import { claimFunction } from './1780000000101-trusted-issuers';

const TURN = 'row_number() OVER (PARTITION BY workspace_id ORDER BY attempted_at NULLS FIRST, created_at)';

/** Workspaces take turns, so one with many slow issuers does not delay the first fetch of another. */
export class ClaimsInTurn1780000000135 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(claimFunction('clock_timestamp()', TURN));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(claimFunction('clock_timestamp()'));
  }
}
