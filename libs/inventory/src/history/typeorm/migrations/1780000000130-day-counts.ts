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

      CREATE FUNCTION forget_versions(days integer, INOUT workspace uuid, OUT has_more boolean)
        LANGUAGE plpgsql ${AS_OWNER}
        -- Indexes give the order, whatever is known of the tables, so each call reads what it removes. A horizon moves every
        -- five minutes: many workspaces that nobody changes would otherwise cost a commit each, twice a minute.
        SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
      DECLARE
        horizon timestamptz := clock_timestamp() - make_interval(days => days);
        last bigint;
        removed integer;
      BEGIN
        IF workspace IS NULL THEN
          UPDATE history_horizon SET begins_at = horizon
           WHERE workspace_id = (
             SELECT workspace_id FROM history_horizon WHERE begins_at < horizon - interval '5 minutes'
              ORDER BY begins_at LIMIT 1 FOR UPDATE SKIP LOCKED)
          RETURNING workspace_id INTO workspace;
          IF workspace IS NULL THEN RETURN; END IF;
        END IF;
        PERFORM set_config('app.workspace_id', workspace::text, true);
        SELECT begins_at INTO horizon FROM history_horizon WHERE workspace_id = workspace;
        -- A set takes its id when its transaction begins, and its time when that ends. So what is read ends at the last set
        -- that goes or the first that stays, whichever began later, and nowhere while none stays.
        SELECT max(to_change) INTO last FROM (
          SELECT to_change FROM asset_version
           WHERE workspace_id = workspace
             AND to_change <= greatest(
                   (SELECT id FROM change_set WHERE workspace_id = workspace AND changed_at < horizon
                     ORDER BY changed_at DESC, sequence DESC LIMIT 1),
                   coalesce((SELECT id FROM change_set WHERE workspace_id = workspace AND changed_at >= horizon
                              ORDER BY changed_at, sequence LIMIT 1), 9223372036854775807))
             AND (SELECT changed_at FROM change_set WHERE workspace_id = workspace AND id = to_change) < horizon
           ORDER BY to_change LIMIT 10000) AS old;
        DELETE FROM asset_version
         WHERE workspace_id = workspace AND to_change <= last
           AND (SELECT changed_at FROM change_set WHERE workspace_id = workspace AND id = to_change) < horizon;
        GET DIAGNOSTICS removed = ROW_COUNT;
        has_more := removed >= 10000;
      END $$;
      REVOKE ALL ON FUNCTION forget_versions FROM PUBLIC;
      COMMENT ON FUNCTION forget_versions IS
        'Moves the horizon of the workspace where it is the oldest, unless one is given, and removes the first states that ended before. NULL where none is due.';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION asset_counts_at, computer_counts_at, days_to_count, forget_versions');
  }
}
