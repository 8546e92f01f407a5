import type { MigrationInterface, QueryRunner } from 'typeorm';
import { tenantPolicy } from '#libs/platform/database';

/** Compares e-mail addresses by A to Z only: `lower` of most locales makes a k of the sign of the kelvin. */
const MEMBERSHIPS = `
  CREATE FUNCTION console_memberships(account_issuer text, account_subject text, verified_email text)
    RETURNS TABLE (workspace_id uuid, person_id uuid, role text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT DISTINCT ON (found.workspace_id) found.workspace_id, found.id, found.role
      FROM (SELECT * FROM person AS bound
             WHERE bound.issuer = account_issuer AND bound.subject = account_subject AND bound.removed_at IS NULL
             UNION ALL
            SELECT * FROM person AS unbound
             WHERE lower(unbound.email COLLATE "C") = lower(verified_email COLLATE "C") AND unbound.issuer IS NULL
               AND unbound.removed_at IS NULL) AS found
     WHERE signed_in_at IS NOT NULL OR added_at BETWEEN now() - interval '14 days' AND now() + interval '1 hour'
     ORDER BY found.workspace_id, found.issuer NULLS LAST
  $$;`;

export class PeopleAndSessions1780000000120 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE person (
        workspace_id uuid NOT NULL REFERENCES workspace (id),
        id uuid NOT NULL DEFAULT gen_random_uuid(),
        email text CHECK (char_length(email) <= 254),
        name text CHECK (char_length(name) BETWEEN 1 AND 200),
        role text NOT NULL CHECK (role IN ('viewer', 'admin')),
        issuer text,
        subject text,
        added_at timestamptz NOT NULL DEFAULT now(),
        signed_in_at timestamptz,
        removed_at timestamptz,
        link_digest bytea CHECK (octet_length(link_digest) = 32),
        link_expires_at timestamptz,
        PRIMARY KEY (workspace_id, id),
        CHECK ((issuer IS NULL) = (subject IS NULL)),
        CHECK (removed_at IS NOT NULL OR (email IS NOT NULL AND name IS NOT NULL))
      );
      COMMENT ON TABLE person IS 'Who may use the console of a workspace, and who could before. The audit names people by their ids.';
      COMMENT ON COLUMN person.issuer IS 'With the subject, the account that alone signs the person in; NULL until the first sign-in.';
      COMMENT ON COLUMN person.link_digest IS 'SHA-256 of the one-time link, until it was used.';
      CREATE UNIQUE INDEX person_address ON person (workspace_id, lower(email COLLATE "C")) WHERE removed_at IS NULL;
      CREATE UNIQUE INDEX person_account ON person (workspace_id, issuer, subject) WHERE removed_at IS NULL;
      CREATE INDEX person_by_account ON person (issuer, subject) WHERE removed_at IS NULL;
      CREATE INDEX person_by_address ON person (lower(email COLLATE "C")) WHERE removed_at IS NULL AND issuer IS NULL;

      CREATE TABLE console_session (
        workspace_id uuid NOT NULL REFERENCES workspace (id),
        digest bytea NOT NULL CHECK (octet_length(digest) = 32),
        person_id uuid NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        used_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (workspace_id, digest),
        FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id)
      );
      COMMENT ON TABLE console_session IS 'A row for each signed-in browser, so that a session can be ended.';
      COMMENT ON COLUMN console_session.digest IS 'SHA-256 of the random part of the cookie.';
      CREATE INDEX console_session_person ON console_session (workspace_id, person_id);
      ${tenantPolicy('person', { ownerSeesAll: true })}
      ${tenantPolicy('console_session', { ownerSeesAll: true })}

      ${MEMBERSHIPS}
      REVOKE ALL ON FUNCTION console_memberships FROM PUBLIC;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION console_memberships; DROP TABLE console_session; DROP TABLE person');
  }
}
