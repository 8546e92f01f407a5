import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Events of every kind, and the time at which they were recorded. Rows of the release before have no `action`, and are
 * updates of assets.
 */
export class AuditPublication1780000000070 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE audit_event
        ADD COLUMN action text,
        ADD COLUMN actor_type text,
        ADD COLUMN target_type text,
        ADD COLUMN target_id text,
        ALTER COLUMN asset_id DROP NOT NULL,
        ALTER COLUMN application_id DROP NOT NULL,
        ALTER COLUMN client_id DROP NOT NULL,
        ALTER COLUMN request_id DROP NOT NULL,
        ALTER COLUMN key_hash DROP NOT NULL;
      COMMENT ON TABLE audit_event IS 'One row for each event: an asset that an update changed, or an act named by its action.';
      COMMENT ON COLUMN audit_event.action IS 'NULL for asset.updated, whose target is the asset.';
      COMMENT ON COLUMN audit_event.target_id IS 'Where the target is no asset: its id, key or name.';

      ALTER TABLE audit_seal ADD COLUMN recorded_at timestamptz(3);
      COMMENT ON COLUMN audit_seal.recorded_at IS
        'The time of the seal, or that of the seal before if that is later. NULL until the events are published.';
    `);
    await this.createFunctions(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION publish_audit_seals, workspaces_to_publish;
      ALTER TABLE audit_seal DROP COLUMN recorded_at;
      ALTER TABLE audit_event DROP COLUMN action, DROP COLUMN actor_type, DROP COLUMN target_type,
        DROP COLUMN target_id;
    `);
  }

  /** The runtime role may not change seals. Seals are published in their order, each once. */
  private async createFunctions(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION workspaces_to_publish() RETURNS SETOF uuid
        LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off AS $$
        WITH RECURSIVE found (workspace_id) AS (
          (SELECT workspace_id FROM audit_seal WHERE recorded_at IS NULL ORDER BY workspace_id LIMIT 1)
          UNION ALL
          SELECT (SELECT seal.workspace_id FROM audit_seal AS seal
                   WHERE seal.recorded_at IS NULL AND seal.workspace_id > found.workspace_id
                   ORDER BY seal.workspace_id LIMIT 1)
            FROM found WHERE found.workspace_id IS NOT NULL
        )
        SELECT workspace_id FROM found WHERE workspace_id IS NOT NULL
      $$;

      CREATE FUNCTION publish_audit_seals(seals bigint[], times timestamptz[]) RETURNS void
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      DECLARE
        workspace uuid := NULLIF(current_setting('app.workspace_id', true), '')::uuid;
        published bigint;
      BEGIN
        UPDATE audit_seal AS seal SET recorded_at = given.recorded_at
          FROM unnest(seals, times) AS given (last_sequence, recorded_at)
         WHERE seal.workspace_id = workspace AND seal.last_sequence = given.last_sequence AND seal.recorded_at IS NULL;
        GET DIAGNOSTICS published = ROW_COUNT;
        IF published IS DISTINCT FROM cardinality(seals) THEN
          RAISE EXCEPTION 'some of these seals are gone or published already';
        END IF;
      END $$;
      REVOKE ALL ON FUNCTION workspaces_to_publish, publish_audit_seals FROM PUBLIC;
    `);
  }
}
