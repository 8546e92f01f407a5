import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndexConcurrently } from '#libs/platform/database';

/** Compares e-mail addresses of people by A to Z only: `lower` of most locales makes a k of the sign of the kelvin. */
export class PlainAddresses1780000000132 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const [unique, unbound] = indexes('COLLATE "C"');
    await buildIndexConcurrently(runner, 'person_address', unique, { unique: true });
    await buildIndexConcurrently(runner, 'person_by_address', unbound);
    await runner.query(memberships('COLLATE "C"'));
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS person_email');
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS person_by_email');
  }

  async down(runner: QueryRunner): Promise<void> {
    const [unique, unbound] = indexes('');
    await runner.query(`CREATE UNIQUE INDEX person_email ON ${unique}`);
    await runner.query(`CREATE INDEX person_by_email ON ${unbound}`);
    await runner.query(memberships(''));
    await runner.query('DROP INDEX person_address, person_by_address');
  }
}

const indexes = (collation: string) =>
  [
    `person (workspace_id, lower(email ${collation})) WHERE removed_at IS NULL`,
    `person (lower(email ${collation})) WHERE removed_at IS NULL AND issuer IS NULL`,
  ] as const;

const memberships = (collation: string): string => `
  CREATE OR REPLACE FUNCTION console_memberships(account_issuer text, account_subject text, verified_email text)
    RETURNS TABLE (workspace_id uuid, person_id uuid, role text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT DISTINCT ON (found.workspace_id) found.workspace_id, found.id, found.role
      FROM (SELECT * FROM person AS bound
             WHERE bound.issuer = account_issuer AND bound.subject = account_subject AND bound.removed_at IS NULL
             UNION ALL
            SELECT * FROM person AS unbound
             WHERE lower(unbound.email ${collation}) = lower(verified_email ${collation}) AND unbound.issuer IS NULL
               AND unbound.removed_at IS NULL) AS found
     WHERE found.signed_in_at IS NOT NULL OR found.added_at > now() - interval '14 days'
     ORDER BY found.workspace_id, found.issuer NULLS LAST
  $$`;
