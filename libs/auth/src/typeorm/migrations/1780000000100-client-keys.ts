import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Like the policy of `application`: a token request knows its client before its workspace. */
const clientPolicy = (table: string): string => `
      ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
      ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
      CREATE POLICY tenant ON ${table}
        USING (workspace_id = NULLIF(current_setting('app.workspace_id', true), '')::uuid
               OR client_id = NULLIF(current_setting('app.client_id', true), ''));
      CREATE POLICY operator ON ${table} TO CURRENT_USER USING (true) WITH CHECK (true);`;

const AS_OWNER = 'SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp';

/**
 * Public keys that prove applications without a secret: their own, with the assertions that were used, and those of issuers
 * that they trust.
 */
export class ClientKeys1780000000100 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE application
        ALTER COLUMN secret_digest DROP NOT NULL,
        ADD COLUMN old_audience boolean NOT NULL DEFAULT false;
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

      CREATE TABLE application_trust (
        workspace_id uuid NOT NULL REFERENCES workspace (id),
        id uuid NOT NULL DEFAULT gen_random_uuid(),
        client_id text NOT NULL REFERENCES application (client_id) ON DELETE CASCADE,
        issuer text NOT NULL,
        subject text NOT NULL,
        audience text,
        state text NOT NULL DEFAULT 'PENDING' CHECK (state IN ('PENDING', 'READY', 'FAILED')),
        failure text,
        given boolean NOT NULL DEFAULT false,
        insecure boolean NOT NULL DEFAULT false,
        of_operator boolean NOT NULL DEFAULT false,
        keys jsonb NOT NULL DEFAULT '[]',
        keys_at timestamptz,
        attempted_at timestamptz,
        created_at timestamptz NOT NULL DEFAULT now(),
        last_used_at timestamptz,
        PRIMARY KEY (workspace_id, id),
        CHECK (state <> 'READY' OR keys_at IS NOT NULL)
      );
      CREATE INDEX application_trust_client ON application_trust (workspace_id, client_id);
      COMMENT ON TABLE application_trust IS 'Issuers whose tokens prove an application.';
      COMMENT ON COLUMN application_trust.audience IS 'NULL means the address of the API.';
      COMMENT ON COLUMN application_trust.given IS 'An operator gave the key set as a file, so it is never fetched.';
      COMMENT ON COLUMN application_trust.of_operator IS 'An operator added it, so it may name an issuer in a private network.';
      COMMENT ON COLUMN application_trust.keys_at IS 'When the keys were last fetched or given.';
      COMMENT ON COLUMN application_trust.last_used_at IS 'Equals issued_at of the application where the newest token is one of this trust.';
      ${['application_key', 'used_assertion', 'application_trust'].map(clientPolicy).join('')}
    `);
    await this.createFunctions(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION claim_trusted_issuers, settle_trusted_issuer, ages_of_trusted_keys;
      DROP TABLE used_assertion, application_key, application_trust;
      UPDATE application SET secret_digest = sha256(uuid_send(gen_random_uuid())) WHERE secret_digest IS NULL;
      ALTER TABLE application ALTER COLUMN secret_digest SET NOT NULL, DROP COLUMN old_audience;`);
  }

  private async createFunctions(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION claim_trusted_issuers(most integer)
        RETURNS TABLE (issuer text, insecure boolean, of_operator boolean, ids uuid[], claimed_at timestamptz)
        LANGUAGE plpgsql ${AS_OWNER} AS $$
        DECLARE moment timestamptz;
        BEGIN
          -- One instance at a time.
          IF NOT pg_try_advisory_xact_lock(hashtextextended('trusted issuers', 0)) THEN RETURN; END IF;
          -- A transaction that began earlier may get the lock later.
          moment := clock_timestamp();
          RETURN QUERY
          WITH due AS (
            SELECT trust.issuer, trust.insecure, trust.of_operator FROM (
              -- Workspaces take turns: one with many slow issuers does not delay the first fetch of another.
              SELECT *, row_number() OVER (PARTITION BY workspace_id ORDER BY attempted_at NULLS FIRST, created_at) AS turn
                FROM application_trust
               -- An attempt in the future was made before the clock was set back.
               WHERE NOT given AND (state = 'PENDING' AND attempted_at IS NULL OR state <> 'FAILED' AND attempted_at NOT BETWEEN
                       moment - CASE state WHEN 'PENDING' THEN interval '40 seconds' ELSE interval '10 minutes' END AND moment)
            ) AS trust
             GROUP BY 1, 2, 3 ORDER BY min(turn), min(attempted_at) NULLS FIRST LIMIT most
          ), claimed AS (
            UPDATE application_trust AS trust SET attempted_at = moment FROM due
             WHERE NOT given AND state <> 'FAILED'
               AND (trust.issuer, trust.insecure, trust.of_operator) = (due.issuer, due.insecure, due.of_operator)
            RETURNING trust.*
          )
          SELECT claimed.issuer, claimed.insecure, claimed.of_operator, array_agg(claimed.id), moment
            FROM claimed GROUP BY 1, 2, 3;
        END
      $$;
      REVOKE ALL ON FUNCTION claim_trusted_issuers FROM PUBLIC;
      COMMENT ON FUNCTION claim_trusted_issuers IS 'Issuers, trusted in any workspace, whose key sets are to be fetched now.';

      CREATE FUNCTION settle_trusted_issuer(ids uuid[], claimed_at timestamptz, fetched jsonb, reason text) RETURNS void
        LANGUAGE sql ${AS_OWNER} AS $$
        UPDATE application_trust
           SET keys = coalesce(fetched, keys), failure = reason,
               keys_at = CASE WHEN fetched IS NULL THEN keys_at ELSE now() END,
               state = CASE WHEN fetched IS NOT NULL THEN 'READY'
                            WHEN state = 'PENDING' AND created_at < now() - interval '1 hour' THEN 'FAILED'
                            ELSE state END
         WHERE id = ANY (ids) AND attempted_at = claimed_at AND NOT given
      $$;
      REVOKE ALL ON FUNCTION settle_trusted_issuer FROM PUBLIC;
      COMMENT ON FUNCTION settle_trusted_issuer IS
        'Keeps what was fetched after a claim, unless an operator changed the trust since.';

      CREATE FUNCTION ages_of_trusted_keys(most integer)
        RETURNS TABLE (workspace text, client_id text, id uuid, given boolean, keys_at timestamptz)
        LANGUAGE sql STABLE ${AS_OWNER} AS $$
        SELECT workspace.slug, trust.client_id, trust.id, trust.given, trust.keys_at
          FROM (SELECT *, keys_at + CASE WHEN given THEN interval '90 days' ELSE interval '1 day' END AS old_at
                  FROM application_trust WHERE state = 'READY') AS trust JOIN workspace ON workspace.id = trust.workspace_id
         -- Sets nearest to their alert (docker/prometheus/alerts.yml) come first, so fetched ones never hide a given one.
         -- Twenty of each workspace come before all others, so many old sets of one hide none of another.
         ORDER BY row_number() OVER (PARTITION BY trust.workspace_id ORDER BY old_at) > 20, old_at LIMIT most
      $$;
      REVOKE ALL ON FUNCTION ages_of_trusted_keys FROM PUBLIC;
      COMMENT ON FUNCTION ages_of_trusted_keys IS 'When key sets of trusted issuers of any workspace were had, those nearest to their alert first.';
    `);
  }
}
