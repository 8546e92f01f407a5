import { tenantPolicy } from '#libs/platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const state = (check: string): string => `CASE WHEN ${check} THEN 2 WHEN NOT ${check} THEN 1 ELSE 0 END`;

/** The number of a posture. `POSTURES` in domain/posture.ts has the same order. A computer without a row has 0. */
export const POSTURE = `(CASE WHEN computer.agent_version IS NOT NULL OR computer.managed THEN 81 ELSE 0 END
           + 27 * ${state('computer.antivirus_installed')}
           + 9 * ${state('computer.disk_encryption_enabled')}
           + 3 * ${state('computer.password_manager_installed')}
           + ${state('computer.screen_lock_enabled')})::smallint`;

const CHECKS = { antivirus: 27, disk_encryption: 9, password_manager: 3, screen_lock: 1 };

/**
 * The visible computers with the columns that filters use. A table of its own: filters need a dozen indexes, and none of
 * them may make an update of other assets or a check-in of a computer dearer than it must be. Identifiers are in a view,
 * because the inventory has indexes on them.
 */
export class ListedComputers1780000000060 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE listed_computer (
        workspace_id uuid NOT NULL,
        id bigint NOT NULL,
        posture smallint NOT NULL,
        owner_id uuid,
        source text NOT NULL,
        last_checked_at timestamptz,
        PRIMARY KEY (workspace_id, id) INCLUDE (last_checked_at)
      );
      COMMENT ON TABLE listed_computer IS 'Visible computers by what filters look for; kept by triggers on asset and computer.';
      COMMENT ON COLUMN listed_computer.posture IS
        'Monitored × 81, then 27, 9, 3 and 1 × the checks (0 unknown, 1 failing, 2 passing) in the order of the columns of computer';
      ${tenantPolicy('listed_computer')}
      CREATE INDEX listed_computer_posture ON listed_computer (workspace_id, posture, id);
      CREATE INDEX listed_computer_monitored ON listed_computer (workspace_id, id) WHERE posture >= 81;
      CREATE INDEX listed_computer_unmonitored ON listed_computer (workspace_id, id) WHERE posture < 81;
      CREATE INDEX listed_computer_owner ON listed_computer (workspace_id, owner_id, id) WHERE owner_id IS NOT NULL;
      CREATE INDEX listed_computer_source ON listed_computer (workspace_id, source, id) INCLUDE (posture);
      CREATE INDEX listed_computer_check ON listed_computer (workspace_id, last_checked_at, id) INCLUDE (posture);
      CREATE VIEW identified_computer WITH (security_invoker = true) AS
        SELECT workspace_id, id, source, external_id, serial_number
          FROM asset WHERE facet IS NOT NULL AND sub_key = 12;
    `);
    // In the order of the id, one for each check: a union of the postures of one check would be up to 81 branches.
    for (const [check, factor] of Object.entries(CHECKS)) {
      await runner.query(`
        CREATE INDEX listed_computer_failing_${check} ON listed_computer (workspace_id, id) WHERE posture / ${factor} % 3 = 1;
        CREATE INDEX listed_computer_unknown_${check} ON listed_computer (workspace_id, id) WHERE posture / ${factor} % 3 = 0;
      `);
    }
    await this.countListedComputers(runner);
    await this.listComputers(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION list_inserted_computers, list_updated_computers, unlist_deleted_computers,
                    list_posture, list_unknown_posture CASCADE;
      DROP TABLE listed_computer, computer_count;
      DROP VIEW identified_computer;
      DROP FUNCTION count_inserted_computers, count_updated_computers, count_deleted_computers, fold_computer_counts`);
  }

  /**
   * A statement adds one row per count that it changes, and the count is the sum. So no writer waits for another one, and
   * none can deadlock. The more rows a statement adds, the more often it folds: some 200 rows are never folded. A fold
   * plans anew: a plan from when the table was small compares each row with each.
   */
  private async countListedComputers(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE computer_count (
        workspace_id uuid NOT NULL,
        kind smallint NOT NULL,
        key bigint NOT NULL,
        source text NOT NULL,
        id bigint GENERATED ALWAYS AS IDENTITY,
        n bigint NOT NULL,
        -- In the order of the table, so that a sum reads each page once.
        PRIMARY KEY (workspace_id, kind, id)
      );
      COMMENT ON TABLE computer_count IS 'Visible computers: the sum of n by kind, key and source; kept exact by triggers on listed_computer.';
      COMMENT ON COLUMN computer_count.kind IS '0 by posture, 1 by the time of the last check, 2 by source';
      COMMENT ON COLUMN computer_count.key IS 'The posture; spans of two hours since 1970, or the least number without a check; 0';
      COMMENT ON COLUMN computer_count.source IS 'The source of kind 2; otherwise empty';
      ${tenantPolicy('computer_count')}

      CREATE FUNCTION fold_computer_counts() RETURNS void LANGUAGE plpgsql
        SET search_path = pg_catalog, public, pg_temp SET plan_cache_mode = force_custom_plan AS $$
      DECLARE here uuid := NULLIF(current_setting('app.workspace_id', true), '')::uuid;
      BEGIN
        WITH folded AS (
          DELETE FROM computer_count WHERE ctid = ANY (ARRAY(
            SELECT computer_count.ctid FROM computer_count
              JOIN (SELECT kind, key, source FROM computer_count WHERE workspace_id = here
                     GROUP BY kind, key, source HAVING count(*) > 1) AS repeated USING (kind, key, source)
             WHERE workspace_id = here FOR UPDATE OF computer_count SKIP LOCKED))
          RETURNING kind, key, source, n)
        INSERT INTO computer_count (workspace_id, kind, key, source, n)
        SELECT here, kind, key, source, sum(n) FROM folded GROUP BY kind, key, source HAVING sum(n) <> 0;
      END $$;
      REVOKE ALL ON FUNCTION fold_computer_counts FROM PUBLIC;
    `);
    const counter = (name: string, changes: string): string => `
      CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
        SET search_path = pg_catalog, public, pg_temp AS $$
      DECLARE added integer;
      BEGIN
        INSERT INTO computer_count (workspace_id, kind, key, source, n)
        SELECT workspace_id, kind, key, name, sum(change) FROM (${changes}) AS changed
         CROSS JOIN LATERAL (VALUES
           (0, posture::bigint, ''),
           (1, coalesce(floor(extract(epoch FROM last_checked_at) / 7200)::bigint, ${NEVER}), ''),
           (2, 0::bigint, source)) AS counted (kind, key, name)
         GROUP BY workspace_id, kind, key, name HAVING sum(change) <> 0;
        GET DIAGNOSTICS added = ROW_COUNT;
        IF random() < added / 200.0 THEN PERFORM fold_computer_counts(); END IF;
        RETURN NULL;
      END $$;
      REVOKE ALL ON FUNCTION ${name} FROM PUBLIC;`;
    const added = 'SELECT workspace_id, posture, last_checked_at, source, 1 AS change FROM new_rows';
    const removed = 'SELECT workspace_id, posture, last_checked_at, source, -1 AS change FROM old_rows';
    await runner.query(`
      ${counter('count_inserted_computers', added)}
      ${counter('count_updated_computers', `${added} UNION ALL ${removed}`)}
      ${counter('count_deleted_computers', removed)}
      ${trigger('count_inserted_computers', 'INSERT', 'listed_computer')}
      ${trigger('count_updated_computers', 'UPDATE', 'listed_computer')}
      ${trigger('count_deleted_computers', 'DELETE', 'listed_computer')}
    `);
  }

  /**
   * LIMIT 1 on a unique key only affects the plan: one lookup per row. Cached plans meet statements of one row and of
   * thousands, and tables that were empty when they were made.
   */
  private async listComputers(runner: QueryRunner): Promise<void> {
    const lister = (name: string, body: string): string => `
      CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
        SET search_path = pg_catalog, public, pg_temp AS $$
      BEGIN
        ${body}
        RETURN NULL;
      END $$;
      REVOKE ALL ON FUNCTION ${name} FROM PUBLIC;`;
    const visible = (rows: string): string => `SELECT workspace_id, id, owner_id, source, last_checked_at
                FROM ${rows} WHERE sub_key = 12 AND facet IS NOT NULL`;
    const insert = (rows: string): string => `
        INSERT INTO listed_computer (workspace_id, id, posture, owner_id, source, last_checked_at)
        SELECT asset.workspace_id, asset.id, ${POSTURE}, asset.owner_id, asset.source, asset.last_checked_at
          FROM (${rows}) AS asset
          LEFT JOIN LATERAL (
            SELECT * FROM computer WHERE workspace_id = asset.workspace_id AND asset_id = asset.id LIMIT 1
          ) AS computer ON true`;
    const remove = (rows: string): string => `
        DELETE FROM listed_computer WHERE ctid = ANY (ARRAY(
          SELECT (SELECT ctid FROM listed_computer WHERE workspace_id = gone.workspace_id AND id = gone.id LIMIT 1)
            FROM (${rows}) AS gone));`;
    const setPosture = (rows: string, posture: string): string => `
        INSERT INTO listed_computer (workspace_id, id, posture, owner_id, source, last_checked_at)
        SELECT listed.workspace_id, listed.id, ${posture}, listed.owner_id, listed.source, listed.last_checked_at
          FROM ${rows} AS computer
         CROSS JOIN LATERAL (
           SELECT * FROM listed_computer WHERE workspace_id = computer.workspace_id AND id = computer.asset_id LIMIT 1
         ) AS listed
         WHERE listed.posture <> ${posture}
            ON CONFLICT (workspace_id, id) DO UPDATE SET posture = excluded.posture;`;
    await runner.query(`
      ${lister('list_inserted_computers', `${insert(visible('new_rows'))};`)}
      ${lister(
        'list_updated_computers',
        `
        IF NOT EXISTS (SELECT FROM new_rows WHERE sub_key = 12) THEN RETURN NULL; END IF;
        -- Most updates leave all of these columns alone.
        IF NOT EXISTS (SELECT FROM (${visible('new_rows')} EXCEPT ${visible('old_rows')}) AS moved)
           AND NOT EXISTS (SELECT FROM (${visible('old_rows')} EXCEPT ${visible('new_rows')}) AS moved)
          THEN RETURN NULL; END IF;
        ${remove('SELECT workspace_id, id FROM new_rows WHERE sub_key = 12 AND facet IS NULL')}
        ${insert(`${visible('new_rows')} EXCEPT ${visible('old_rows')}`)}
            ON CONFLICT (workspace_id, id) DO UPDATE
           SET owner_id = excluded.owner_id, source = excluded.source, last_checked_at = excluded.last_checked_at;`,
      )}
      ${lister('unlist_deleted_computers', remove('SELECT workspace_id, id FROM old_rows WHERE facet IS NOT NULL'))}
      ${lister('list_posture', setPosture('new_rows', POSTURE))}
      ${lister('list_unknown_posture', setPosture('old_rows', '0'))}
      ${trigger('list_inserted_computers', 'INSERT', 'asset')}
      ${trigger('list_updated_computers', 'UPDATE', 'asset')}
      ${trigger('unlist_deleted_computers', 'DELETE', 'asset')}
      ${trigger('list_posture', 'INSERT', 'computer', 'list_inserted_posture')}
      ${trigger('list_posture', 'UPDATE', 'computer', 'list_updated_posture')}
      ${trigger('list_unknown_posture', 'DELETE', 'computer')}
    `);
  }
}

/** The key of computers that were never checked: before every other one. */
const NEVER = '-9223372036854775808';

const TABLES = {
  INSERT: 'NEW TABLE AS new_rows',
  UPDATE: 'OLD TABLE AS old_rows NEW TABLE AS new_rows',
  DELETE: 'OLD TABLE AS old_rows',
};

const trigger = (calls: string, event: keyof typeof TABLES, table: string, name = calls): string => `
  CREATE TRIGGER ${name} AFTER ${event} ON ${table}
    REFERENCING ${TABLES[event]} FOR EACH STATEMENT EXECUTE FUNCTION ${calls}();`;
