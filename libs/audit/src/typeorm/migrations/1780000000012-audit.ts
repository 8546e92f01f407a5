import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = ['audit_event', 'audit_seal', 'audit_head'];

export class Audit1780000000012 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await this.createTables(runner);
    for (const table of TABLES) {
      await runner.query(`
        ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
        ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
        CREATE POLICY tenant ON ${table}
          USING (workspace_id = NULLIF(current_setting('app.workspace_id', true), '')::uuid);
        CREATE POLICY operator ON ${table} TO CURRENT_USER USING (true) WITH CHECK (true);
      `);
    }
    await this.createFunctions(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION seal_audit_events, workspaces_to_seal');
    for (const table of TABLES) await runner.query(`DROP TABLE ${table}`);
  }

  /** No foreign keys to assets or workspaces: the audit outlives both, and a change locks only its own rows. */
  private async createTables(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE audit_event (
        workspace_id uuid NOT NULL,
        id uuid NOT NULL,
        occurred_at timestamptz(3) NOT NULL,
        asset_id uuid NOT NULL,
        application_id uuid NOT NULL,
        client_id text NOT NULL,
        request_id text NOT NULL,
        key_hash text NOT NULL,
        changes jsonb NOT NULL CHECK (jsonb_typeof(changes) = 'object'),
        anchor_sequence bigint CHECK (anchor_sequence > 0),
        anchor_link bytea CHECK (octet_length(anchor_link) = 32),
        mac bytea NOT NULL CHECK (octet_length(mac) = 32),
        sequence bigint CHECK (sequence > 0),
        link bytea CHECK (octet_length(link) = 32),
        PRIMARY KEY (workspace_id, id),
        CHECK ((sequence IS NULL) = (link IS NULL)),
        CHECK ((anchor_sequence IS NULL) = (anchor_link IS NULL))
      );
      COMMENT ON TABLE audit_event IS 'One row for each asset that an update changed.';
      COMMENT ON COLUMN audit_event.id IS 'UUIDv7 of occurred_at: the order of time.';
      COMMENT ON COLUMN audit_event.asset_id IS 'The public id.';
      COMMENT ON COLUMN audit_event.changes IS '{"field": {"old": …, "new": …}}, values as clients read them';
      COMMENT ON COLUMN audit_event.anchor_sequence IS 'Where the chain of the workspace ended at the time of the change.';
      COMMENT ON COLUMN audit_event.anchor_link IS 'The link of the event in that place.';
      COMMENT ON COLUMN audit_event.mac IS 'HMAC-SHA256 of the columns before it, under a key outside the database.';
      COMMENT ON COLUMN audit_event.sequence IS 'Place in the chain of the workspace; NULL until sealed.';
      COMMENT ON COLUMN audit_event.link IS 'HMAC-SHA256 of the link before, the sequence and the mac.';

      CREATE TABLE audit_seal (
        workspace_id uuid NOT NULL,
        first_sequence bigint NOT NULL,
        last_sequence bigint NOT NULL,
        head bytea NOT NULL CHECK (octet_length(head) = 32),
        sealed_at timestamptz(3) NOT NULL,
        mac bytea NOT NULL CHECK (octet_length(mac) = 32),
        PRIMARY KEY (workspace_id, last_sequence),
        CHECK (first_sequence BETWEEN 1 AND last_sequence)
      );
      COMMENT ON TABLE audit_seal IS 'Each batch of events that was chained at once; head is the link of its last event.';

      CREATE TABLE audit_head (
        workspace_id uuid PRIMARY KEY,
        sequence bigint NOT NULL,
        head bytea NOT NULL CHECK (octet_length(head) = 32),
        mac bytea NOT NULL CHECK (octet_length(mac) = 32)
      ) WITH (fillfactor = 50);
      COMMENT ON TABLE audit_head IS 'Where the chain of a workspace ends, so that a chain cut short is found.';

      CREATE UNIQUE INDEX audit_event_sequence ON audit_event (workspace_id, sequence) WHERE sequence IS NOT NULL;
      CREATE INDEX audit_event_unsealed ON audit_event (workspace_id, id) WHERE sequence IS NULL;
      CREATE INDEX audit_event_asset ON audit_event (workspace_id, asset_id, id);
    `);
  }

  /**
   * Functions for work that the runtime role may not do directly. Temporary tables come last in the search path, so
   * they cannot shadow ours. The list of workspaces skips through the index, however many events each has.
   */
  private async createFunctions(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION workspaces_to_seal() RETURNS SETOF uuid
        LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off AS $$
        WITH RECURSIVE found (workspace_id) AS (
          (SELECT workspace_id FROM audit_event WHERE sequence IS NULL ORDER BY workspace_id LIMIT 1)
          UNION ALL
          SELECT (SELECT event.workspace_id FROM audit_event AS event
                   WHERE event.sequence IS NULL AND event.workspace_id > found.workspace_id
                   ORDER BY event.workspace_id LIMIT 1)
            FROM found WHERE found.workspace_id IS NOT NULL
        )
        SELECT workspace_id FROM found WHERE workspace_id IS NOT NULL
      $$;

      CREATE FUNCTION seal_audit_events(
        events uuid[], links bytea[], first bigint, sealed_at timestamptz, seal_mac bytea, head_mac bytea
      ) RETURNS void
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      DECLARE
        workspace uuid := NULLIF(current_setting('app.workspace_id', true), '')::uuid;
        last bigint := first - 1 + cardinality(events);
        newest bytea := links[cardinality(events)];
        sealed bigint;
      BEGIN
        UPDATE audit_event AS event SET sequence = first - 1 + linked.place, link = linked.link
          FROM unnest(events, links) WITH ORDINALITY AS linked (id, link, place)
         WHERE event.workspace_id = workspace AND event.id = linked.id AND event.sequence IS NULL;
        GET DIAGNOSTICS sealed = ROW_COUNT;
        IF sealed IS DISTINCT FROM cardinality(events) THEN
          RAISE EXCEPTION 'some of these events are gone or sealed already';
        END IF;
        IF first = 1 THEN
          INSERT INTO audit_head (workspace_id, sequence, head, mac) VALUES (workspace, last, newest, head_mac);
        ELSE
          UPDATE audit_head AS kept SET sequence = last, head = newest, mac = head_mac
           WHERE kept.workspace_id = workspace AND kept.sequence = first - 1;
          IF NOT FOUND THEN
            RAISE EXCEPTION 'the chain does not end before %', first;
          END IF;
        END IF;
        INSERT INTO audit_seal (workspace_id, first_sequence, last_sequence, head, sealed_at, mac)
        VALUES (workspace, first, last, newest, sealed_at, seal_mac);
      END $$;
      REVOKE ALL ON FUNCTION workspaces_to_seal, seal_audit_events FROM PUBLIC;
    `);
  }
}
