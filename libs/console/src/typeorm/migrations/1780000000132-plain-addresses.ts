import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndexConcurrently } from '#libs/platform/database';
import { membershipsFunction } from './1780000000120-people-and-sessions';

/** Compares e-mail addresses of people by A to Z only: `lower` of most locales makes a k of the sign of the kelvin. */
export class PlainAddresses1780000000132 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const [unique, unbound] = indexes('COLLATE "C"');
    await buildIndexConcurrently(runner, 'person_address', unique, { unique: true });
    await buildIndexConcurrently(runner, 'person_by_address', unbound);
    await runner.query(membershipsFunction('COLLATE "C"'));
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS person_email');
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS person_by_email');
  }

  async down(runner: QueryRunner): Promise<void> {
    const [unique, unbound] = indexes('');
    await runner.query(`CREATE UNIQUE INDEX person_email ON ${unique}`);
    await runner.query(`CREATE INDEX person_by_email ON ${unbound}`);
    await runner.query(membershipsFunction(''));
    await runner.query('DROP INDEX person_address, person_by_address');
  }
}

const indexes = (collation: string) =>
  [
    `person (workspace_id, lower(email ${collation})) WHERE removed_at IS NULL`,
    `person (lower(email ${collation})) WHERE removed_at IS NULL AND issuer IS NULL`,
  ] as const;
