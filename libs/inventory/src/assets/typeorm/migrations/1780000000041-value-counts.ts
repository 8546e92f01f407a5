import { tenantPolicy } from '#libs/platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countingTriggers } from '../counters';

/** A table `<what>_count` with the number of visible assets of each key. The number is the sum of the key's rows. */
interface SummedCounter {
  readonly what: string;
  /** The column that holds the key, and its type. */
  readonly column: string;
  readonly type: string;
  /** The name of the parameter and variable with several keys. */
  readonly keys: string;
  /** The end of the comment on the table. */
  readonly by: string;
}

const TAGS: SummedCounter = {
  ...{ what: 'tag', column: 'tag_key_id', type: 'bigint', keys: 'keys' },
  by: 'tag key: the sum of n; kept exact by triggers on asset and asset_tag.',
};
const OWNERS: SummedCounter = {
  ...{ what: 'owner', column: 'owner_id', type: 'uuid', keys: 'owners' },
  by: 'owner: the sum of n; kept exact by triggers on asset.',
};
const COUNTERS = [
  ...['count_inserted_tags', 'count_deleted_tags', 'count_shown_tags'],
  ...['count_inserted_owners', 'count_updated_owners', 'count_deleted_owners'],
  ...['count_inserted_sources', 'count_updated_sources', 'count_deleted_sources'],
];

/**
 * Counts the visible assets of each tag key, owner and import source.
 *
 * A statement adds one row per tag key and owner that it changes, and the count is the sum. Nobody waits for a row that
 * another writer holds, so counting can neither block nor deadlock, in whatever order a transaction names its keys.
 *
 * Sources are counted like `facet_count`, and in the same order of keys. Their triggers fire behind those of `facet_count`,
 * because their names do. So a writer of a count of a source holds the count of that type and facet. Nobody can
 * hold the two in another order.
 */
export class ValueCounts1780000000041 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const counter of [TAGS, OWNERS]) await runner.query(summedCounter(counter));
    await this.countTags(runner);
    const owners = (name: string, changes: string): string =>
      summing(OWNERS, name, changes, { where: 'WHERE facet IS NOT NULL AND owner_id IS NOT NULL' });
    await this.count(runner, 'owners', owners, 'owner_id, facet');
    await runner.query(SOURCE_COUNT);
    await this.count(runner, 'sources', countingSources, 'source, sub_key, facet');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION ${COUNTERS.join(', ')} CASCADE;
      DROP FUNCTION fold_tag_counts, fold_owner_counts;
      DROP TABLE tag_count, owner_count, source_count`);
  }

  private async countTags(runner: QueryRunner): Promise<void> {
    // LIMIT 1 and OFFSET 0 only affect the plan: one index lookup per row, whatever the statistics say.
    const ofVisible = (rows: string, change: number): string => `
      SELECT workspace_id, tag_key_id, ${change} AS change FROM ${rows} AS tag
       WHERE (SELECT facet IS NOT NULL FROM asset
               WHERE asset.workspace_id = tag.workspace_id AND asset.id = tag.asset_id LIMIT 1)`;
    const ofShownAndHidden = `
      SELECT tag.workspace_id, tag.tag_key_id, flip.change FROM (
        SELECT workspace_id, id, sum(change) AS change FROM (
          SELECT workspace_id, id, 1 AS change FROM new_rows WHERE facet IS NOT NULL
          UNION ALL SELECT workspace_id, id, -1 FROM old_rows WHERE facet IS NOT NULL) AS seen
         GROUP BY workspace_id, id HAVING sum(change) <> 0) AS flip
       CROSS JOIN LATERAL (
         SELECT workspace_id, tag_key_id FROM asset_tag
          WHERE asset_tag.workspace_id = flip.workspace_id AND asset_tag.asset_id = flip.id OFFSET 0) AS tag`;
    await runner.query(`
      ${summing(TAGS, 'count_inserted_tags', ofVisible('new_rows', 1))}
      ${summing(TAGS, 'count_deleted_tags', ofVisible('old_rows', -1))}
      ${summing(TAGS, 'count_shown_tags', ofShownAndHidden, { unless: NOTHING_HIDDEN })}
      CREATE TRIGGER count_inserted_tags AFTER INSERT ON asset_tag
        REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_inserted_tags();
      CREATE TRIGGER count_deleted_tags AFTER DELETE ON asset_tag
        REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION count_deleted_tags();
      CREATE TRIGGER count_shown_tags AFTER UPDATE ON asset
        REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_shown_tags();
    `);
  }

  private async count(
    runner: QueryRunner,
    what: string,
    counter: (name: string, changes: string) => string,
    columns: string,
  ): Promise<void> {
    const added = `SELECT workspace_id, ${columns}, 1 AS change FROM new_rows`;
    const removed = `SELECT workspace_id, ${columns}, -1 AS change FROM old_rows`;
    await runner.query(`
      ${counter(`count_inserted_${what}`, added)}
      ${counter(`count_updated_${what}`, `${added} UNION ALL ${removed}`)}
      ${counter(`count_deleted_${what}`, removed)}
      ${countingTriggers(what)}
    `);
  }
}

/** Most updates touch visible assets and leave them visible: for these nothing is compared. */
const NOTHING_HIDDEN = `IF NOT EXISTS (SELECT FROM old_rows WHERE facet IS NULL)
       AND NOT EXISTS (SELECT FROM new_rows WHERE facet IS NULL) THEN RETURN NULL; END IF;`;

/** The table, and the function that folds the rows of a key into one. */
const summedCounter = ({ what, column, type, keys, by }: SummedCounter): string => `
      CREATE TABLE ${what}_count (
        workspace_id uuid NOT NULL,
        ${column} ${type} NOT NULL,
        id bigint GENERATED ALWAYS AS IDENTITY,
        n bigint NOT NULL,
        PRIMARY KEY (workspace_id, ${column}, id)
      );
      COMMENT ON TABLE ${what}_count IS 'Visible assets by ${by}';
      ${tenantPolicy(`${what}_count`)}

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
 * A trigger function that adds the sum of `changes` to each key's rows. SECURITY DEFINER, because the runtime role may not
 * write counters.
 */
const summing = (
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

const SOURCE_COUNT = `
      CREATE TABLE source_count (
        workspace_id uuid NOT NULL,
        source text NOT NULL,
        sub_key smallint NOT NULL,
        facet smallint NOT NULL,
        n bigint NOT NULL,
        PRIMARY KEY (workspace_id, source, sub_key, facet)
      ) WITH (fillfactor = 50);
      COMMENT ON TABLE source_count IS 'Visible assets by source, sub key and facet; kept exact by triggers on asset.';
      ${tenantPolicy('source_count')}
    `;

const countingSources = (name: string, changes: string): string => `
  CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp AS $$
  BEGIN
    INSERT INTO source_count AS counted (workspace_id, source, sub_key, facet, n)
    SELECT workspace_id, source, sub_key, facet, sum(change) FROM (${changes}) AS changes
     WHERE facet IS NOT NULL
     GROUP BY workspace_id, source, sub_key, facet
    HAVING sum(change) <> 0
     ORDER BY workspace_id, source, sub_key, facet
        ON CONFLICT (workspace_id, source, sub_key, facet) DO UPDATE SET n = counted.n + excluded.n;
    RETURN NULL;
  END $$;
  REVOKE ALL ON FUNCTION ${name} FROM PUBLIC;`;
