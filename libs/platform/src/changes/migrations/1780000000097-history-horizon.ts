import type { MigrationInterface, QueryRunner } from 'typeorm';
import { tenantPolicy } from '../../database/schema/tenant-policy';

/** Remembers since when the past of a workspace is known, and the counts of past days. */
export class HistoryHorizon1780000000097 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE history_horizon (
        workspace_id uuid PRIMARY KEY REFERENCES workspace (id),
        begins_at timestamptz NOT NULL
      );
      COMMENT ON TABLE history_horizon IS 'The first instant of a workspace that can be asked for. It never moves back.';
      -- for retention, which begins with the oldest
      CREATE INDEX history_horizon_begins_at ON history_horizon (begins_at);
      ${tenantPolicy('history_horizon', { ownerSeesAll: true })}
      CREATE TABLE day_count (
        workspace_id uuid NOT NULL REFERENCES workspace (id),
        day date NOT NULL,
        assets jsonb NOT NULL,
        computers jsonb NOT NULL,
        PRIMARY KEY (workspace_id, day)
      );
      COMMENT ON TABLE day_count IS 'Visible assets and computers at the last instant of a past day (UTC).';
      COMMENT ON COLUMN day_count.assets IS 'Arrays of sub key, facet and number';
      COMMENT ON COLUMN day_count.computers IS 'Arrays of posture and number';
      ${tenantPolicy('day_count', { ownerSeesAll: true })}

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
    await runner.query(
      'DROP TRIGGER begin_history ON workspace; DROP FUNCTION begin_history; DROP TABLE day_count, history_horizon',
    );
  }
}
