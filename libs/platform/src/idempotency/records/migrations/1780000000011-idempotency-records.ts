import type { MigrationInterface, QueryRunner } from 'typeorm';

export class IdempotencyRecords1780000000011 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE idempotency_record (
        workspace_id uuid NOT NULL,
        application_id uuid NOT NULL,
        key_hash bytea NOT NULL,
        fingerprint bytea NOT NULL,
        status smallint NOT NULL,
        body text NOT NULL,
        entity_tag text,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        PRIMARY KEY (workspace_id, application_id, key_hash)
      );
      COMMENT ON TABLE idempotency_record IS
        'The answer of a write that succeeded, committed together with what it changed; dead once expires_at has passed.';
      COMMENT ON COLUMN idempotency_record.key_hash IS 'SHA-256 of the Idempotency-Key';
      COMMENT ON COLUMN idempotency_record.fingerprint IS 'SHA-256 of method, path, media type and canonical body';
      COMMENT ON COLUMN idempotency_record.body IS 'The body as it was sent: its UTF-8 form has the bytes that replays repeat.';
      CREATE INDEX idempotency_record_expiry ON idempotency_record (expires_at);

      ALTER TABLE idempotency_record ENABLE ROW LEVEL SECURITY;
      ALTER TABLE idempotency_record FORCE ROW LEVEL SECURITY;
      CREATE POLICY tenant ON idempotency_record
        USING (workspace_id = NULLIF(current_setting('app.workspace_id', true), '')::uuid);
      CREATE POLICY operator ON idempotency_record TO CURRENT_USER USING (true) WITH CHECK (true);
    `);
    // Works across workspaces, so it runs with the owner's rights. It can remove expired records only.
    await runner.query(`
      CREATE FUNCTION purge_idempotency_records(batch integer) RETURNS integer
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      DECLARE
        purged integer;
      BEGIN
        IF NOT pg_try_advisory_xact_lock(hashtextextended('purge_idempotency_records', 0)) THEN RETURN NULL; END IF;
        DELETE FROM idempotency_record AS record
         USING (SELECT workspace_id, application_id, key_hash FROM idempotency_record
                 WHERE expires_at <= now() ORDER BY expires_at LIMIT batch) AS dead
         WHERE record.workspace_id = dead.workspace_id AND record.application_id = dead.application_id
           AND record.key_hash = dead.key_hash AND record.expires_at <= now();
        GET DIAGNOSTICS purged = ROW_COUNT;
        RETURN purged;
      END $$;
      REVOKE ALL ON FUNCTION purge_idempotency_records FROM PUBLIC;
      COMMENT ON FUNCTION purge_idempotency_records IS
        'Removes so many dead records of any workspace at most, and gives how many; NULL while another one purges.';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION purge_idempotency_records; DROP TABLE idempotency_record');
  }
}
