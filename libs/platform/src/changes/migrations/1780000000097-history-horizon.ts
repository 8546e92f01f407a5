import type { MigrationInterface, QueryRunner } from 'typeorm';
import { tenantPolicy } from '../../database/schema/tenant-policy';

const TICKET = (first: string): string => `
      CREATE OR REPLACE FUNCTION take_change_ticket(workspace uuid, set_id bigint, origin smallint, client_id text, request_id text)
        RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
        ${first}
        WITH head AS (
          INSERT INTO change_head AS known (workspace_id, sequence, mark, changed_at)
          VALUES (workspace, 1, gen_random_uuid(), date_trunc('milliseconds', clock_timestamp()))
              ON CONFLICT (workspace_id) DO UPDATE
             SET sequence = known.sequence + 1, mark = excluded.mark,
                 changed_at = GREATEST(known.changed_at, date_trunc('milliseconds', clock_timestamp()))
          RETURNING sequence, mark, changed_at)
        INSERT INTO change_set (workspace_id, sequence, id, mark, changed_at, origin, client_id, request_id)
        SELECT workspace, head.sequence, set_id, head.mark, head.changed_at, origin, client_id, request_id FROM head
      $$;`;

/**
 * Remembers since when the past of a workspace is known. A ticket also takes a lock before it reads the clock, so that a
 * reader of the past can wait for one under way.
 */
export class HistoryHorizon1780000000097 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE history_horizon (
        workspace_id uuid PRIMARY KEY REFERENCES workspace (id),
        begins_at timestamptz NOT NULL
      );
      COMMENT ON TABLE history_horizon IS 'The first instant of a workspace that can be asked for. It never moves back.';
      ${tenantPolicy('history_horizon', { ownerSeesAll: true })}
      ${TICKET(`SELECT pg_advisory_xact_lock(hashtextextended('change_ticket ' || workspace::text, 0));`)}

      CREATE FUNCTION begin_history() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      BEGIN
        INSERT INTO history_horizon (workspace_id, begins_at)
        VALUES (NEW.id, date_trunc('milliseconds', NEW.created_at));
        RETURN NULL;
      END $$;
      REVOKE ALL ON FUNCTION begin_history FROM PUBLIC;
      CREATE TRIGGER begin_history AFTER INSERT ON workspace FOR EACH ROW EXECUTE FUNCTION begin_history();
      -- small: one row for each workspace
      INSERT INTO history_horizon (workspace_id, begins_at)
      SELECT id, GREATEST(date_trunc('milliseconds', clock_timestamp()),
                          (SELECT max(changed_at) FROM change_set WHERE workspace_id = workspace.id))
        FROM workspace;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TRIGGER begin_history ON workspace; DROP FUNCTION begin_history; DROP TABLE history_horizon;
      ${TICKET('')}`);
  }
}
