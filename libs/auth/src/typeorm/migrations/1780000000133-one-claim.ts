import type { MigrationInterface, QueryRunner } from 'typeorm';
import { claimFunction } from './1780000000101-trusted-issuers';

/**
 * A claim happens once it has the lock. A transaction that began earlier and got the lock later would take the claim before
 * it for one of the future, and ask the issuer again.
 */
export class OneClaim1780000000133 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(claimFunction('clock_timestamp()'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(claimFunction('now()'));
  }
}
