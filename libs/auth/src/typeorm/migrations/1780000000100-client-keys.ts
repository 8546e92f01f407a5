import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Like the policy of `application`: a token request knows its client before its workspace. */
export const clientPolicy = (table: string): string => `
      ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
      ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
      CREATE POLICY tenant ON ${table}
        USING (workspace_id = NULLIF(current_setting('app.workspace_id', true), '')::uuid
               OR client_id = NULLIF(current_setting('app.client_id', true), ''));
      CREATE POLICY operator ON ${table} TO CURRENT_USER USING (true) WITH CHECK (true);`;

/** Public keys by which applications prove themselves, and the assertions that were used. */
export class ClientKeys1780000000100 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE application ADD COLUMN old_audience boolean NOT NULL DEFAULT false;
      COMMENT ON COLUMN application.old_audience IS 'Assertions may name the address of the token endpoint as audience.';

      CREATE TABLE application_key (
        workspace_id uuid NOT NULL REFERENCES workspace (id),
        id uuid NOT NULL DEFAULT gen_random_uuid(),
        client_id text NOT NULL REFERENCES application (client_id) ON DELETE CASCADE,
        kid text NOT NULL,
        algorithms text[] NOT NULL,
        jwk jsonb NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        last_used_at timestamptz,
        PRIMARY KEY (workspace_id, id),
        UNIQUE (workspace_id, client_id, kid)
      );
      COMMENT ON TABLE application_key IS 'Public keys of applications. Their private keys never come here.';
      COMMENT ON COLUMN application_key.last_used_at IS 'Equals issued_at of the application where the newest token is one of this key.';

      CREATE TABLE used_assertion (
        workspace_id uuid NOT NULL REFERENCES workspace (id),
        client_id text NOT NULL REFERENCES application (client_id) ON DELETE CASCADE,
        jti_digest bytea NOT NULL,
        expires_at timestamptz NOT NULL,
        PRIMARY KEY (workspace_id, client_id, jti_digest)
      );
      COMMENT ON TABLE used_assertion IS 'Assertions that obtained a token. Each may do so once.';
      ${clientPolicy('application_key')}
      ${clientPolicy('used_assertion')}
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE used_assertion, application_key;
      ALTER TABLE application DROP COLUMN old_audience;`);
  }
}
