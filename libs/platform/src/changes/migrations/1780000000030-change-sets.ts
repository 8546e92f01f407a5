import type { MigrationInterface, QueryRunner } from 'typeorm';
import { tenantPolicy } from '../../database/schema/tenant-policy';

/**
 * The order in which transactions of a workspace were committed. Everything that a workspace holds already belongs to its
 * first change set, whose id is 0.
 */
export class ChangeSets1780000000030 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE SEQUENCE change_set_id;

      CREATE TABLE change_set (
        workspace_id uuid NOT NULL REFERENCES workspace (id),
        sequence bigint NOT NULL,
        id bigint NOT NULL,
        mark uuid NOT NULL DEFAULT gen_random_uuid(),
        changed_at timestamptz NOT NULL,
        origin smallint NOT NULL CHECK (origin BETWEEN 1 AND 3),
        client_id text,
        request_id text,
        emptied boolean NOT NULL DEFAULT false,
        PRIMARY KEY (workspace_id, sequence)
      );
      COMMENT ON TABLE change_set IS 'One row for each transaction that changed what clients see, in the order of COMMIT.';
      COMMENT ON COLUMN change_set.mark IS 'Random. A database that lost the set and reused its sequence has another mark.';
      COMMENT ON COLUMN change_set.origin IS '1 API, 2 import, 3 operator';
      COMMENT ON COLUMN change_set.emptied IS 'Everything that it changed was changed again since.';
      CREATE INDEX change_set_filled ON change_set (workspace_id, sequence) WHERE NOT emptied;
      CREATE INDEX change_set_changed_at ON change_set (workspace_id, changed_at, sequence);
      -- for former states, which name their sets by id
      CREATE INDEX change_set_by_id ON change_set (workspace_id, id);

      CREATE TABLE change_head (
        workspace_id uuid PRIMARY KEY REFERENCES workspace (id),
        sequence bigint NOT NULL,
        mark uuid NOT NULL,
        changed_at timestamptz NOT NULL,
        purged_sequence bigint NOT NULL DEFAULT 0,
        restarted_sequence bigint NOT NULL DEFAULT 0
      ) WITH (fillfactor = 50);
      COMMENT ON TABLE change_head IS 'The newest change set of a workspace. Its row lock orders the commits of writers.';
      COMMENT ON COLUMN change_head.purged_sequence IS 'Tombstones up to this set may have been purged.';
      COMMENT ON COLUMN change_head.restarted_sequence IS 'Readers that began before this set must begin again.';

      -- small: one row for each workspace
      INSERT INTO change_set (workspace_id, sequence, id, changed_at, origin)
      SELECT id, 1, 0, date_trunc('milliseconds', now()), 2 FROM workspace;
      -- small: one row for each workspace
      INSERT INTO change_head (workspace_id, sequence, mark, changed_at)
      SELECT workspace_id, sequence, mark, changed_at FROM change_set;
    `);
    await runner.query(tenantPolicy('change_set', { ownerSeesAll: true }) + tenantPolicy('change_head'));
    // With the rights of the owner: the runtime role takes tickets, and cannot write these tables otherwise.
    await runner.query(`
      CREATE FUNCTION take_change_ticket(workspace uuid, set_id bigint, origin smallint, client_id text, request_id text)
        RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
        -- Before the ticket reads the clock, so that a reader of the past can wait for one under way.
        SELECT pg_advisory_xact_lock(hashtextextended('change_ticket ' || workspace::text, 0));
        WITH head AS (
          INSERT INTO change_head AS known (workspace_id, sequence, mark, changed_at)
          VALUES (workspace, 1, gen_random_uuid(), date_trunc('milliseconds', clock_timestamp()))
              ON CONFLICT (workspace_id) DO UPDATE
             SET sequence = known.sequence + 1, mark = excluded.mark,
                 changed_at = GREATEST(known.changed_at, date_trunc('milliseconds', clock_timestamp()))
          RETURNING sequence, mark, changed_at)
        INSERT INTO change_set (workspace_id, sequence, id, mark, changed_at, origin, client_id, request_id)
        SELECT workspace, head.sequence, set_id, head.mark, head.changed_at, origin, client_id, request_id FROM head
      $$;
      REVOKE ALL ON FUNCTION take_change_ticket FROM PUBLIC;
      COMMENT ON FUNCTION take_change_ticket IS
        'Gives a change set its place behind all committed ones. The last statement before COMMIT: writers queue here.';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION take_change_ticket; DROP TABLE change_head; DROP TABLE change_set; DROP SEQUENCE change_set_id`);
  }
}
