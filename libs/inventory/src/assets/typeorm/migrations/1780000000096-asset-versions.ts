import { tenantPolicy } from '#libs/platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { keepFormerStates } from '../former-states';

const AS_OWNER = 'SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp';

/** A check in `asset.posture`, whose digit to the base 3 is 0 unknown, 1 failing, 2 passing. */
const check = (name: string, weight: number): string =>
  `CASE posture / ${weight} % 3 WHEN 1 THEN false WHEN 2 THEN true END AS ${name}`;

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
      $$;`;
};

/**
 * Keeps the former rows of assets when a change set ends them, once for each statement. The test is that of the feed, so
 * a check-in keeps nothing. The row has a computer's posture but for its agent version, which a writer of both must change
 * afterwards. The present state of an erased employee is kept as erased when it ends.
 *
 * Views show other features the former states of computers, and of owners. The view of known assets has every asset, visible
 * or not. security_invoker: the reader's own row-level security holds, not that of the view's owner.
 *
 * The lock on asset lasts until the first instant of each workspace is stored. So no change before it is unknown.
 */
export class AssetVersions1780000000096 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE asset ADD COLUMN erased_change_id bigint;
      COMMENT ON COLUMN asset.erased_change_id IS
        'change_id when an operator erased the history of the employee; that state is kept as erased when it ends';

      CREATE TABLE asset_version (
        LIKE asset,
        version_id bigint GENERATED ALWAYS AS IDENTITY,
        to_change bigint NOT NULL,
        agent_version text,
        PRIMARY KEY (workspace_id, id, version_id)
      );
      COMMENT ON TABLE asset_version IS 'Former states of assets; kept by a trigger on asset.';
      COMMENT ON COLUMN asset_version.to_change IS 'change_set.id of the transaction that ended the state';
      -- for retention, which removes the states that ended first
      CREATE INDEX asset_version_ended ON asset_version (workspace_id, to_change);
      ${tenantPolicy('asset_version')}
    `);
    await keepFormerStates(runner);
    await runner.query(`
      CREATE TRIGGER keep_former_asset AFTER UPDATE ON asset
        REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION keep_former_asset();

      CREATE VIEW former_computer WITH (security_invoker = true) AS
        SELECT workspace_id, id, version_id, change_id, to_change, facet, public_id, name, operating_system, os_version,
               serial_number, owner_id, last_checked_at, updated_at, source, tags, coalesce(posture >= 81, false) AS is_monitored, agent_version,
               ${check('antivirus_installed', 27)}, ${check('disk_encryption_enabled', 9)},
               ${check('password_manager_installed', 3)}, ${check('screen_lock_enabled', 1)}
          FROM asset_version WHERE sub_key = 12;
      CREATE VIEW known_asset WITH (security_invoker = true) AS
        SELECT workspace_id, id, public_id, change_id, facet, name, email, sub_key = 15 AS is_employee FROM asset;
      CREATE VIEW former_asset WITH (security_invoker = true) AS
        SELECT workspace_id, id, public_id, change_id, facet, name, email, sub_key = 15 AS is_employee, version_id
          FROM asset_version;

      -- small: one row for each workspace
      UPDATE workspace SET history_begins_at = GREATEST(
        date_trunc('milliseconds', clock_timestamp()),
        (SELECT max(changed_at) FROM change_set WHERE workspace_id = workspace.id));

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
        SELECT workspace.id, next.day FROM workspace CROSS JOIN LATERAL (
          SELECT greatest((history_begins_at AT TIME ZONE 'UTC')::date, max(counted.day) + 1) AS day
            FROM day_count AS counted WHERE counted.workspace_id = workspace.id) AS next
         WHERE next.day < (clock_timestamp() AT TIME ZONE 'UTC')::date
      $$;
      COMMENT ON FUNCTION days_to_count IS 'The first day of each workspace that is over and not counted.';

      CREATE FUNCTION forget_versions(days integer) RETURNS boolean
        LANGUAGE plpgsql ${AS_OWNER}
        -- Indexes give the order, whatever is known of the tables, so each call reads what it removes.
        SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
      DECLARE
        horizon timestamptz := clock_timestamp() - make_interval(days => days);
        tenant uuid;
        begins timestamptz;
        passed record;
      BEGIN
        -- A history begins with the last change set that became too old, so a workspace that nobody changes costs no commit.
        SELECT workspace.id, history_begins_at INTO tenant, begins FROM workspace
         CROSS JOIN LATERAL (
           SELECT FROM change_set
            WHERE workspace_id = workspace.id AND changed_at > history_begins_at AND changed_at < horizon
            LIMIT 1) AS due
         ORDER BY history_begins_at LIMIT 1 FOR NO KEY UPDATE OF workspace SKIP LOCKED;
        IF tenant IS NULL THEN RETURN false; END IF;
        PERFORM set_config('app.workspace_id', tenant::text, true);
        -- A set may have 5,000 states.
        FOR passed IN
          SELECT id, changed_at FROM change_set
           WHERE workspace_id = tenant AND changed_at > begins AND changed_at < horizon
           ORDER BY changed_at FETCH FIRST 20 ROWS WITH TIES
        LOOP
          DELETE FROM asset_version WHERE workspace_id = tenant AND to_change = passed.id;
          begins := passed.changed_at;
        END LOOP;
        UPDATE workspace SET history_begins_at = begins WHERE id = tenant;
        RETURN true;
      END $$;
      COMMENT ON FUNCTION forget_versions IS
        'Moves the oldest beginning of a history behind change sets, and removes the states that these ended. False where none is due.';

      REVOKE ALL ON FUNCTION
        keep_former_asset, asset_counts_at, computer_counts_at, days_to_count, forget_versions FROM PUBLIC;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION asset_counts_at, computer_counts_at, days_to_count, forget_versions;
      DROP TABLE day_count;
      DROP VIEW known_asset, former_asset, former_computer;
      DROP TRIGGER keep_former_asset ON asset; DROP FUNCTION keep_former_asset;
      DROP TABLE asset_version; ALTER TABLE asset DROP COLUMN erased_change_id`);
  }
}
