import type { MigrationInterface, QueryRunner } from 'typeorm';
import { tenantPolicy } from '#libs/platform/database';

/**
 * Events of every kind, and the Merkle tree of each workspace's events after each round that numbered some. It takes the
 * place of the links, seals and heads of release 1.0.0, which only instances of that release read during an upgrade. A
 * later release drops them.
 */
export class AuditCheckpoints1780000000070 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE audit_event
        ADD COLUMN action text,
        ADD COLUMN actor_type text,
        ADD COLUMN actor_name text,
        ADD COLUMN target_type text,
        ADD COLUMN target_id text,
        ALTER COLUMN asset_id DROP NOT NULL,
        ALTER COLUMN application_id DROP NOT NULL,
        ALTER COLUMN client_id DROP NOT NULL,
        ALTER COLUMN request_id DROP NOT NULL,
        ALTER COLUMN key_hash DROP NOT NULL,
        DROP CONSTRAINT audit_event_check;
      COMMENT ON TABLE audit_event IS 'One row for each event: an asset that an update changed, or an act named by its action.';
      COMMENT ON COLUMN audit_event.action IS 'NULL for asset.updated, whose target is the asset.';
      COMMENT ON COLUMN audit_event.actor_name IS
        'Who acted as OPERATOR or IMPORT, empty for applications. NULL in events from before the column: they show no name.';
      COMMENT ON COLUMN audit_event.target_id IS 'Where the target is no asset: its id, key or name.';
      COMMENT ON COLUMN audit_event.sequence IS 'Place in the audit of the workspace; NULL until sealed.';
      COMMENT ON COLUMN audit_event.anchor_sequence IS 'Written by release 1.0.0 only.';
      COMMENT ON COLUMN audit_event.anchor_link IS 'Written by release 1.0.0 only.';
      COMMENT ON COLUMN audit_event.link IS 'Written by release 1.0.0 only.';

      CREATE TABLE audit_checkpoint (
        workspace_id uuid NOT NULL,
        size bigint NOT NULL CHECK (size > 0),
        roots bytea[] NOT NULL,
        last_event uuid NOT NULL,
        recorded_at timestamptz(3) NOT NULL,
        is_floor boolean NOT NULL,
        mac bytea NOT NULL CHECK (octet_length(mac) = 32),
        PRIMARY KEY (workspace_id, size)
      );
      CREATE INDEX audit_checkpoint_recorded ON audit_checkpoint (workspace_id, recorded_at, size);
      COMMENT ON TABLE audit_checkpoint IS 'The Merkle tree (RFC 9162) of a workspace''s events after each round that sealed some.';
      COMMENT ON COLUMN audit_checkpoint.size IS 'Number of leaves: the sequence of the last event in the tree.';
      COMMENT ON COLUMN audit_checkpoint.roots IS 'Roots of the largest complete subtrees, from left to right.';
      COMMENT ON COLUMN audit_checkpoint.last_event IS 'The id of that event.';
      COMMENT ON COLUMN audit_checkpoint.recorded_at IS 'When the events since the checkpoint before were sealed. It never falls.';
      COMMENT ON COLUMN audit_checkpoint.is_floor IS 'The events of this tree were archived and removed.';
      COMMENT ON COLUMN audit_checkpoint.mac IS 'HMAC-SHA256 of the columns before it, under a key outside the database.';
      ${tenantPolicy('audit_checkpoint', { ownerSeesAll: true })}
    `);
    await this.createFunctions(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION extend_audit, workspaces_to_extend;
      DROP TABLE audit_checkpoint;
      ALTER TABLE audit_event DROP COLUMN action, DROP COLUMN actor_type, DROP COLUMN actor_name, DROP COLUMN target_type,
        DROP COLUMN target_id;
    `);
  }

  /** Functions for work that the runtime role may not do directly. Events that release 1.0.0 numbered keep their places. */
  private async createFunctions(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION workspaces_to_extend() RETURNS SETOF uuid
        LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
        SELECT workspaces_to_seal()
         UNION
        SELECT head.workspace_id FROM audit_head AS head
         WHERE head.sequence > coalesce(
                 (SELECT max(size) FROM audit_checkpoint AS kept WHERE kept.workspace_id = head.workspace_id), 0)
      $$;

      CREATE FUNCTION extend_audit(events uuid[], before bigint, roots bytea[], recorded_at timestamptz, mac bytea)
        RETURNS void
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      DECLARE
        workspace uuid := NULLIF(current_setting('app.workspace_id', true), '')::uuid;
        total bigint := cardinality(events);
        sealed bigint;
      BEGIN
        IF before <> coalesce((SELECT max(size) FROM audit_checkpoint AS kept WHERE kept.workspace_id = workspace), 0) THEN
          RAISE EXCEPTION 'the audit does not end at %', before;
        END IF;
        UPDATE audit_event AS event SET sequence = before + given.place
          FROM unnest(events) WITH ORDINALITY AS given (id, place)
         WHERE event.workspace_id = workspace AND event.id = given.id
           AND coalesce(event.sequence, before + given.place) = before + given.place;
        GET DIAGNOSTICS sealed = ROW_COUNT;
        IF sealed IS DISTINCT FROM total THEN
          RAISE EXCEPTION 'some of these events are gone or sealed already';
        END IF;
        INSERT INTO audit_checkpoint (workspace_id, size, roots, last_event, recorded_at, is_floor, mac)
        VALUES (workspace, before + total, extend_audit.roots, events[total], extend_audit.recorded_at, false, extend_audit.mac);
      END $$;
      REVOKE ALL ON FUNCTION workspaces_to_extend, extend_audit FROM PUBLIC;
    `);
  }
}
