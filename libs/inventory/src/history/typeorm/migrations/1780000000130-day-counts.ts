import type { MigrationInterface, QueryRunner } from 'typeorm';

const AS_OWNER = 'SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp';

/**
 * Counts at an instant, in one snapshot: the counts now, without the assets that changed since, and with what these were
 * then. So the cost grows with the changes since, not with the inventory.
 */
const countsAt = (name: string, columns: readonly string[], now: string, only = 'true'): string => {
  const cell = columns.join(', ');
  return `
      CREATE FUNCTION ${name}(workspace uuid, instant timestamptz) RETURNS jsonb
        LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
        WITH moment AS (
          SELECT coalesce((SELECT sequence FROM change_set WHERE workspace_id = workspace AND changed_at <= instant
                            ORDER BY changed_at DESC, sequence DESC LIMIT 1), 0) AS sequence
        ), later AS MATERIALIZED (
          SELECT changed.* FROM moment, change_set AS change CROSS JOIN LATERAL (
                   SELECT id, sub_key, facet, posture FROM asset
                    WHERE workspace_id = workspace AND change_id = change.id AND ${only}) AS changed
           WHERE change.workspace_id = workspace AND change.sequence > moment.sequence AND NOT change.emptied
        ), counts AS (
          ${now}
          UNION ALL SELECT ${cell}, -1 AS n FROM later WHERE facet IS NOT NULL
          UNION ALL SELECT ${columns.map((column) => `was.${column}`).join(', ')}, 1 FROM moment, later CROSS JOIN LATERAL (
            SELECT former.sub_key, former.facet, former.posture FROM asset_version AS former
             WHERE former.workspace_id = workspace AND former.id = later.id
               AND (SELECT sequence FROM change_set WHERE workspace_id = workspace AND id = former.change_id) <= moment.sequence
             ORDER BY version_id DESC LIMIT 1) AS was
           WHERE was.facet IS NOT NULL
        ), cells AS (SELECT ${cell}, sum(n) AS n FROM counts GROUP BY ${cell} HAVING sum(n) <> 0)
        SELECT coalesce(jsonb_agg(jsonb_build_array(${cell}, n) ORDER BY ${cell}), '[]') FROM cells
      $$;
      REVOKE ALL ON FUNCTION ${name} FROM PUBLIC;`;
};

/** Lets the worker count days and forget former states. */
export class DayCounts1780000000130 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ${countsAt(
        'asset_counts_at',
        ['sub_key', 'facet'],
        'SELECT sub_key, facet, n FROM facet_count WHERE workspace_id = workspace',
      )}
      ${countsAt(
        'computer_counts_at',
        ['posture'],
        `SELECT posture, count(*) AS n FROM asset
           WHERE workspace_id = workspace AND sub_key = 12 AND facet IS NOT NULL GROUP BY posture`,
        'sub_key = 12',
      )}

      CREATE FUNCTION days_to_count() RETURNS TABLE (workspace uuid, day date)
        LANGUAGE sql STABLE ${AS_OWNER} AS $$
        SELECT workspace_id, first
          FROM (SELECT workspace_id,
                       greatest((begins_at AT TIME ZONE 'UTC')::date,
                                (SELECT max(counted.day) + 1 FROM day_count AS counted
                                  WHERE counted.workspace_id = horizon.workspace_id)) AS first
                  FROM history_horizon AS horizon) AS begun
         WHERE first < (clock_timestamp() AT TIME ZONE 'UTC')::date
      $$;
      REVOKE ALL ON FUNCTION days_to_count FROM PUBLIC;
      COMMENT ON FUNCTION days_to_count IS 'The first day of each workspace that is over and not counted.';

      CREATE FUNCTION forget_versions(days integer) RETURNS uuid
        LANGUAGE plpgsql ${AS_OWNER} SET enable_seqscan = off AS $$
      DECLARE
        horizon CONSTANT timestamptz := clock_timestamp() - make_interval(days => days);
        overdue uuid;
      BEGIN
        UPDATE history_horizon SET begins_at = horizon
         WHERE workspace_id = (
           SELECT workspace_id FROM history_horizon WHERE begins_at < horizon - interval '30 seconds'
            ORDER BY begins_at LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING workspace_id INTO overdue;
        IF overdue IS NULL THEN RETURN NULL; END IF;
        PERFORM set_config('app.workspace_id', overdue::text, true);
        -- A transaction takes the id of its set when it begins, and the time when it ends.
        DELETE FROM asset_version AS former USING (
          SELECT id, version_id FROM asset_version
           WHERE workspace_id = overdue
             AND to_change <= (SELECT id FROM change_set WHERE workspace_id = overdue AND changed_at < horizon
                                ORDER BY changed_at DESC, sequence DESC LIMIT 1)
             AND (SELECT changed_at FROM change_set WHERE workspace_id = overdue AND id = to_change) < horizon
           ORDER BY to_change LIMIT 10000) AS old
         WHERE former.workspace_id = overdue AND former.id = old.id AND former.version_id = old.version_id;
        RETURN overdue;
      END $$;
      REVOKE ALL ON FUNCTION forget_versions FROM PUBLIC;
      COMMENT ON FUNCTION forget_versions IS
        'Moves the horizon of the workspace where it is the oldest, and removes the first states that ended before. NULL where none is due.';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION asset_counts_at, computer_counts_at, days_to_count, forget_versions');
  }
}
