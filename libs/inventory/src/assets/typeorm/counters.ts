import { tenantPolicy } from '#libs/platform/database';

/** A table `<what>_count` with the number of visible assets of each key. The number is the sum of the key's rows. */
export interface SummedCounter {
  readonly what: string;
  /** The column that holds the key, and its type. */
  readonly column: string;
  readonly type: string;
  /** The name of the parameter and variable with several keys. */
  readonly keys: string;
  /** The comment on the table. */
  readonly comment: string;
}

/** SQL of the table and of the function that folds the rows of a key into one. */
export const summedTable = ({ what, column, type, comment }: SummedCounter): string => `
      CREATE TABLE ${what}_count (
        workspace_id uuid NOT NULL,
        ${column} ${type} NOT NULL,
        id bigint GENERATED ALWAYS AS IDENTITY,
        n bigint NOT NULL,
        PRIMARY KEY (workspace_id, ${column}, id)
      );
      COMMENT ON TABLE ${what}_count IS '${comment}';
      ${tenantPolicy(`${what}_count`)}
    `;

export const foldFunction = ({ what, column, type, keys }: SummedCounter): string => `
      -- One writer in fifty folds the rows of its ${keys} into one each, and skips those that another one is folding.
      -- It plans anew each time: a plan from when the table was small reads all of it.
      CREATE FUNCTION fold_${what}_counts(${keys} ${type}[]) RETURNS void LANGUAGE plpgsql
        SET search_path = pg_catalog, public, pg_temp SET plan_cache_mode = force_custom_plan AS $$
      BEGIN
        IF ${keys} IS NULL OR random() > 0.02 THEN RETURN; END IF;
        WITH folded AS (
          DELETE FROM ${what}_count WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM ${what}_count
             WHERE workspace_id = NULLIF(current_setting('app.workspace_id', true), '')::uuid
               AND ${column} = ANY (${keys})
               FOR UPDATE SKIP LOCKED))
          RETURNING workspace_id, ${column}, n)
        INSERT INTO ${what}_count (workspace_id, ${column}, n)
        SELECT workspace_id, ${column}, sum(n) FROM folded GROUP BY workspace_id, ${column} HAVING sum(n) <> 0;
      END $$;
      REVOKE ALL ON FUNCTION fold_${what}_counts FROM PUBLIC;
    `;

/**
 * SQL of a trigger function that adds the sum of `changes` to each key's rows. SECURITY DEFINER, because the runtime role
 * may not write counters.
 */
export const summingFunction = (
  { what, column, type, keys }: SummedCounter,
  name: string,
  changes: string,
  { unless = '', where = '' } = {},
): string => `
  CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp AS $$
  DECLARE ${keys} ${type}[];
  BEGIN
    ${unless}
    WITH added AS (
      INSERT INTO ${what}_count (workspace_id, ${column}, n)
      SELECT workspace_id, ${column}, sum(change) FROM (${changes}) AS changes
       ${where}
       GROUP BY workspace_id, ${column} HAVING sum(change) <> 0
      RETURNING ${column})
    SELECT array_agg(${column}) INTO ${keys} FROM added;
    PERFORM fold_${what}_counts(${keys});
    RETURN NULL;
  END $$;
  REVOKE ALL ON FUNCTION ${name} FROM PUBLIC;`;

/** SQL of the triggers on `asset` that call `count_inserted_<what>`, `count_updated_<what>` and `count_deleted_<what>`. */
export const countingTriggers = (what: string): string => `
      CREATE TRIGGER count_inserted_${what} AFTER INSERT ON asset
        REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_inserted_${what}();
      CREATE TRIGGER count_updated_${what} AFTER UPDATE ON asset
        REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_updated_${what}();
      CREATE TRIGGER count_deleted_${what} AFTER DELETE ON asset
        REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION count_deleted_${what}();
    `;

/** SQL that runs a statement for each workspace, and commits after each. For migrations with `transaction = false`. */
export const inEachWorkspace = (statement: string): string => `
      DO $$
      DECLARE workspace record;
      BEGIN
        FOR workspace IN SELECT id FROM workspace ORDER BY id LOOP
          PERFORM set_config('app.workspace_id', workspace.id::text, true);
          ${statement}
          COMMIT;
        END LOOP;
      END $$`;
