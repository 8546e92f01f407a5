import { tenantPolicy } from '#libs/platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Functions that triggers call run with the owner's rights, because the runtime role may not write counters. */
const AS_OWNER = 'LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp';

const CELL = 'sub_key, facet';
const ADDED = `SELECT workspace_id, id, source, ${CELL}, 1 AS change FROM new_rows`;
const REMOVED = `SELECT workspace_id, id, source, ${CELL}, -1 AS change FROM old_rows`;

/** Adds changes of visible rows to a counter, in the order of its keys, so that single statements cannot deadlock. */
const count = (table: string, keys: string, changes: string): string => `
        INSERT INTO ${table} AS counted (workspace_id, ${keys}, n)
        SELECT workspace_id, ${keys}, sum(change) FROM ${changes}
         WHERE facet IS NOT NULL
         GROUP BY workspace_id, ${keys} HAVING sum(change) <> 0 ORDER BY workspace_id, ${keys}
            ON CONFLICT (workspace_id, ${keys}) DO UPDATE SET n = counted.n + excluded.n;`;
const countAssets = (changes: string): string =>
  count('facet_count', CELL, `(${changes}) AS changes`) +
  count('source_count', `source, ${CELL}`, `(${changes}) AS changes`);

/**
 * Several statements of one transaction count tags, in any order of their keys. So the writers of a workspace take turns
 * from their first one to the end.
 */
const TAKE_TURNS = `
        PERFORM pg_advisory_xact_lock(hashtextextended('tag_count ' || current_setting('app.workspace_id', true), 0));`;

const counterTable = (name: string, column: string, comment: string): string => `
      CREATE TABLE ${name} (
        workspace_id uuid NOT NULL,
        ${column} NOT NULL,
        sub_key smallint NOT NULL,
        facet smallint NOT NULL,
        n bigint NOT NULL,
        PRIMARY KEY (workspace_id, ${column.split(' ')[0]}, ${CELL})
      ) WITH (fillfactor = 50);
      COMMENT ON TABLE ${name} IS '${comment}';
      ${tenantPolicy(name)}`;

const COMPUTER_COLUMNS = `
        SELECT asset.workspace_id, asset.id, asset.public_id, asset.name, asset.operating_system, asset.os_version,
               asset.serial_number, asset.owner_id, asset.last_checked_at, asset.tags,
               (computer.agent_version IS NOT NULL OR computer.managed IS TRUE) AS is_monitored,
               computer.agent_version, computer.antivirus_installed, computer.disk_encryption_enabled,
               computer.password_manager_installed, computer.screen_lock_enabled`;
const FROM_COMPUTERS = `
          FROM asset
          LEFT JOIN computer ON computer.workspace_id = asset.workspace_id AND computer.asset_id = asset.id
         WHERE asset.sub_key = 12`;

/**
 * Counts visible assets by source and by tag key, each by type and facet, and shows computers to their feature through
 * views. The triggers of `facet_count` count sources too, and tags of assets that move from one cell to another.
 */
export class CountsAndViews1780000000041 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ${counterTable('source_count', 'source text', 'Visible assets by source, sub key and facet; kept exact by the triggers on asset.')}
      ${counterTable('tag_count', 'tag_key_id bigint', 'Visible assets by tag key, sub key and facet; kept exact by the triggers on asset and asset_tag.')}

      -- STABLE: the planner learns which key it is, and so how many assets have it. The hash finds a key of any length.
      CREATE FUNCTION tag_key_named(workspace uuid, name text) RETURNS bigint
        LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
        SELECT id FROM tag_key WHERE workspace_id = workspace AND md5(key) = md5(name) AND key = name $$;
      REVOKE ALL ON FUNCTION tag_key_named FROM PUBLIC;

      CREATE OR REPLACE FUNCTION count_inserted_facets() RETURNS trigger ${AS_OWNER} AS $$
      BEGIN ${countAssets(ADDED)}
        RETURN NULL;
      END $$;
      -- OFFSET 0 keeps one look-up for each asset, whatever the planner thinks of the size of a statement.
      CREATE OR REPLACE FUNCTION count_updated_facets() RETURNS trigger ${AS_OWNER} SET enable_seqscan = off AS $$
      BEGIN
        -- Most updates move no asset.
        IF NOT EXISTS (SELECT id, ${CELL} FROM new_rows EXCEPT SELECT id, ${CELL} FROM old_rows) THEN RETURN NULL; END IF;
        ${countAssets(`${ADDED} UNION ALL ${REMOVED}`)}
        IF NOT EXISTS (SELECT FROM new_rows AS asset CROSS JOIN LATERAL (
                         SELECT FROM asset_tag WHERE workspace_id = asset.workspace_id AND asset_id = asset.id LIMIT 1) AS tag)
          THEN RETURN NULL; END IF;
        ${TAKE_TURNS}
        ${count(
          'tag_count',
          `tag_key_id, ${CELL}`,
          `(${ADDED} UNION ALL ${REMOVED}) AS asset CROSS JOIN LATERAL (
                 SELECT tag_key_id FROM asset_tag WHERE workspace_id = asset.workspace_id AND asset_id = asset.id OFFSET 0) AS tag`,
        )}
        RETURN NULL;
      END $$;
      CREATE OR REPLACE FUNCTION count_deleted_facets() RETURNS trigger ${AS_OWNER} AS $$
      BEGIN ${countAssets(REMOVED)}
        RETURN NULL;
      END $$;
      ${countTags('inserted', 'INSERT', 'NEW TABLE AS rows', 1)}
      ${countTags('deleted', 'DELETE', 'OLD TABLE AS rows', -1)}
    `);
    // security_invoker: the reader's own row-level security holds, not that of the view's owner.
    await runner.query(`
      CREATE OR REPLACE VIEW visible_computer WITH (security_invoker = true) AS
        ${COMPUTER_COLUMNS}, asset.updated_at, asset.source, asset.external_id, asset.facet, asset.posture
        ${FROM_COMPUTERS} AND asset.facet IS NOT NULL;
      CREATE VIEW changed_computer WITH (security_invoker = true) AS
        ${COMPUTER_COLUMNS}, asset.updated_at, asset.source, asset.facet, asset.change_id, asset.sub_key AS kind
        ${FROM_COMPUTERS};
      CREATE VIEW computer_count WITH (security_invoker = true) AS
        SELECT workspace_id, facet, n FROM facet_count WHERE sub_key = 12;
      CREATE VIEW computer_source_count WITH (security_invoker = true) AS
        SELECT workspace_id, source, facet, n FROM source_count WHERE sub_key = 12;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP VIEW computer_source_count, computer_count, changed_computer, visible_computer;
      CREATE VIEW visible_computer WITH (security_invoker = true) AS
        ${COMPUTER_COLUMNS} ${FROM_COMPUTERS} AND asset.facet IS NOT NULL;
      DROP FUNCTION count_inserted_tags, count_deleted_tags CASCADE;
      DROP FUNCTION tag_key_named;
      DROP TABLE source_count, tag_count;
    `);
    for (const [event, changes] of Object.entries({
      inserted: ADDED,
      updated: `${ADDED} UNION ALL ${REMOVED}`,
      deleted: REMOVED,
    })) {
      await runner.query(`
        CREATE OR REPLACE FUNCTION count_${event}_facets() RETURNS trigger ${AS_OWNER} AS $$
        BEGIN ${count('facet_count', CELL, `(${changes}) AS changes`)}
          RETURN NULL;
        END $$`);
    }
  }
}

const countTags = (name: string, event: string, rows: string, change: number): string => `
      CREATE FUNCTION count_${name}_tags() RETURNS trigger ${AS_OWNER} SET enable_seqscan = off AS $$
      BEGIN
        IF NOT EXISTS (SELECT FROM rows) THEN RETURN NULL; END IF;
        ${TAKE_TURNS}
        ${count(
          'tag_count',
          `tag_key_id, ${CELL}`,
          `(SELECT tag.workspace_id, tag_key_id, ${CELL}, ${change} AS change
               FROM rows AS tag CROSS JOIN LATERAL (
                 SELECT ${CELL} FROM asset WHERE workspace_id = tag.workspace_id AND id = tag.asset_id OFFSET 0) AS asset) AS tagged`,
        )}
        RETURN NULL;
      END $$;
      REVOKE ALL ON FUNCTION count_${name}_tags FROM PUBLIC;
      CREATE TRIGGER count_${name}_tags AFTER ${event} ON asset_tag
        REFERENCING ${rows} FOR EACH STATEMENT EXECUTE FUNCTION count_${name}_tags();`;
