import type { MigrationInterface, QueryRunner } from 'typeorm';
import { forgottenTicketFunction } from './1780000000031-asset-changes';

/**
 * Lets a writer change an asset that stays hidden, or stays deleted, without a ticket. The asset keeps the change set of its
 * removal, so that feeds tell the removal once, and a purge by age counts from it. From hidden to deleted is a removal too.
 */
export class HiddenChanges1780000000136 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      forgottenTicketFunction(
        `IF TG_OP = 'UPDATE' AND OLD.visibility <> 0 AND NEW.visibility = OLD.visibility THEN RETURN NEW; END IF;`,
      ),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(forgottenTicketFunction());
  }
}
