import type { MigrationInterface, QueryRunner } from 'typeorm';
import { freshnessFunction } from './1780000000090-import-runs';

/**
 * Lets an import count as fresh only if it took a record or read none, and shows the metrics the sources that are nearest to
 * their alert.
 */
export class ImportFreshness1780000000140 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      freshnessFunction(
        'known.fresh_at + make_interval(secs => known.stale_after_seconds),',
        `AND (run.counts->>'failed' = '0' OR run.counts->>'failed' <> run.counts->>'read')`,
      ),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(freshnessFunction());
  }
}
