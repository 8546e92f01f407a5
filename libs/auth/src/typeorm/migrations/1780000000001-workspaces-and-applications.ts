import type { MigrationInterface, QueryRunner } from 'typeorm';

export class WorkspacesAndApplications1780000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE workspace (
        id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        slug text NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
        name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
        created_at timestamptz NOT NULL DEFAULT now()
      );
      COMMENT ON TABLE workspace IS 'A tenant. Every other row belongs to exactly one.';

      CREATE TABLE application (
        workspace_id uuid NOT NULL REFERENCES workspace (id),
        id uuid NOT NULL DEFAULT gen_random_uuid(),
        client_id text NOT NULL UNIQUE,
        name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
        secret_digest bytea NOT NULL,
        previous_secret_digest bytea,
        previous_secret_expires_at timestamptz,
        scopes text[] NOT NULL,
        limits jsonb NOT NULL DEFAULT '{}',
        disabled boolean NOT NULL DEFAULT false,
        generation bigint NOT NULL DEFAULT 0,
        jti uuid,
        issued_at timestamptz,
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (workspace_id, id)
      );
      COMMENT ON COLUMN application.generation IS 'Rises with every token; only the token of the newest is accepted.';
      COMMENT ON COLUMN application.secret_digest IS 'HMAC-SHA256 of the client secret under the pepper.';

      ALTER TABLE workspace ENABLE ROW LEVEL SECURITY;
      ALTER TABLE workspace FORCE ROW LEVEL SECURITY;
      ALTER TABLE application ENABLE ROW LEVEL SECURITY;
      ALTER TABLE application FORCE ROW LEVEL SECURITY;

      CREATE POLICY tenant ON workspace
        USING (id = NULLIF(current_setting('app.workspace_id', true), '')::uuid);
      CREATE POLICY tenant ON application
        USING (workspace_id = NULLIF(current_setting('app.workspace_id', true), '')::uuid
               OR client_id = NULLIF(current_setting('app.client_id', true), ''));
      CREATE POLICY operator ON workspace TO CURRENT_USER USING (true) WITH CHECK (true);
      CREATE POLICY operator ON application TO CURRENT_USER USING (true) WITH CHECK (true);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE application; DROP TABLE workspace');
  }
}
