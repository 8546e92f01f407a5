import { tenantPolicy } from '#libs/platform/database';

/** SQL of the triggers that call `count_inserted_<what>`, `count_updated_<what>` and `count_deleted_<what>`. */
export const countingTriggers = (what: string, table = 'asset'): string => `
      CREATE TRIGGER count_inserted_${what} AFTER INSERT ON ${table}
        REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_inserted_${what}();
      CREATE TRIGGER count_updated_${what} AFTER UPDATE ON ${table}
        REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_updated_${what}();
      CREATE TRIGGER count_deleted_${what} AFTER DELETE ON ${table}
        REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION count_deleted_${what}();
    `;

/** A table `<what>_count` with the number of visible assets of each key: the sum of its rows. */
export interface SummedCounter {
  readonly what: string;
  /** The table whose rows are counted. */
  readonly table: string;
  /** The column that holds the value, and its type. */
  readonly column: string;
  readonly type: string;
  /** True counts each type and facet of a value by itself. */
  readonly byFacet: boolean;
}

const namesOf = (what: string): string[] =>
  ['inserted', 'updated', 'deleted'].map((event) => `count_${event}_${what}s`);

/**
 * A statement adds one row for each key that it changes. Nobody waits for a row that another writer holds, so counting can
 * neither block nor deadlock, in whatever order a transaction names its keys. One added row in two hundred has the rows of
 * its value folded into one for each key. So some two hundred of a value are unfolded.
 *
 * SECURITY DEFINER, because the runtime role may not write counters.
 */
export function summedCounter({ what, table, column, type, byFacet }: SummedCounter): string {
  const keys = `workspace_id, ${column}${byFacet ? ', sub_key, facet' : ''}`;
  const [inserted = '', updated = '', deleted = ''] = namesOf(what);
  const counting = (name: string, changes: string): string => `
      CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
        SET search_path = pg_catalog, public, pg_temp AS $$
      DECLARE crowded ${type}[];
      BEGIN
        WITH added AS (
          INSERT INTO ${what}_count (${keys}, n)
          SELECT ${keys}, sum(change) FROM (${changes}) AS changes
           WHERE facet IS NOT NULL AND ${column} IS NOT NULL
           GROUP BY ${keys} HAVING sum(change) <> 0
          RETURNING ${column})
        SELECT array_agg(DISTINCT ${column}) INTO crowded FROM added WHERE random() < 0.005;
        IF crowded IS NOT NULL THEN PERFORM fold_${what}_counts(crowded); END IF;
        RETURN NULL;
      END $$;
      REVOKE ALL ON FUNCTION ${name} FROM PUBLIC;`;
  // The facet tells visible rows, also where it is no part of the key.
  const read = byFacet ? keys : `${keys}, facet`;
  const added = `SELECT ${read}, 1 AS change FROM new_rows`;
  const removed = `SELECT ${read}, -1 AS change FROM old_rows`;
  return `
      CREATE TABLE ${what}_count (
        workspace_id uuid NOT NULL,
        ${column} ${type} NOT NULL,
        ${byFacet ? 'sub_key smallint NOT NULL, facet smallint NOT NULL,' : ''}
        id bigint GENERATED ALWAYS AS IDENTITY,
        n bigint NOT NULL,
        PRIMARY KEY (workspace_id, ${column}, id)
      );
      COMMENT ON TABLE ${what}_count IS 'Visible assets by ${column}${byFacet ? ', sub key and facet' : ''}: the sum of n; kept exact by triggers on ${table}.';
      ${tenantPolicy(`${what}_count`)}

      -- Skips rows that another writer folds. Plans anew: a plan from when the table was small reads all of it.
      CREATE FUNCTION fold_${what}_counts(crowded ${type}[]) RETURNS void LANGUAGE sql
        SET search_path = pg_catalog, public, pg_temp SET plan_cache_mode = force_custom_plan AS $$
        WITH folded AS (
          DELETE FROM ${what}_count WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM ${what}_count
             WHERE workspace_id = NULLIF(current_setting('app.workspace_id', true), '')::uuid
               AND ${column} = ANY (crowded)
               FOR UPDATE SKIP LOCKED))
          RETURNING ${keys}, n)
        INSERT INTO ${what}_count (${keys}, n)
        SELECT ${keys}, sum(n) FROM folded GROUP BY ${keys} HAVING sum(n) <> 0;
      $$;
      REVOKE ALL ON FUNCTION fold_${what}_counts FROM PUBLIC;
      ${counting(inserted, added)}
      ${counting(updated, `${added} UNION ALL ${removed}`)}
      ${counting(deleted, removed)}
      ${countingTriggers(`${what}s`, table)}`;
}

export const dropSummedCounter = ({ what }: SummedCounter): string => `
      DROP FUNCTION ${namesOf(what).join(', ')} CASCADE;
      DROP FUNCTION fold_${what}_counts;
      DROP TABLE ${what}_count;`;
