import type { MigrationInterface, QueryRunner } from 'typeorm';

const TENANT_TABLES = ['tag_key', 'asset', 'asset_tag', 'computer', 'facet_count'];

export class AssetsAndFacetCounts1780000000010 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await this.createTables(runner);
    await this.createIndexes(runner);
    await this.createFacetCounters(runner);
    for (const table of TENANT_TABLES) {
      await runner.query(`
        ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
        ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
        CREATE POLICY tenant ON ${table}
          USING (workspace_id = NULLIF(current_setting('app.workspace_id', true), '')::uuid);
      `);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of [...TENANT_TABLES].reverse()) await runner.query(`DROP TABLE IF EXISTS ${table} CASCADE`);
    await runner.query('DROP FUNCTION count_inserted_facets, count_updated_facets, count_deleted_facets');
  }

  private async createTables(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE tag_key (
        workspace_id uuid NOT NULL REFERENCES workspace (id),
        id bigint GENERATED ALWAYS AS IDENTITY,
        key text NOT NULL CHECK (char_length(key) BETWEEN 1 AND 1000),
        value text CHECK (char_length(value) <= 255),
        platform boolean NOT NULL DEFAULT false,
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (workspace_id, id)
      );
      COMMENT ON COLUMN tag_key.value IS 'What every asset with a customer key reads; platform tags have a value per asset.';

      CREATE TABLE asset (
        workspace_id uuid NOT NULL REFERENCES workspace (id),
        id bigint GENERATED ALWAYS AS IDENTITY,
        public_id uuid NOT NULL DEFAULT gen_random_uuid(),
        source text NOT NULL CHECK (octet_length(source) BETWEEN 1 AND 100),
        external_id text NOT NULL CHECK (octet_length(external_id) BETWEEN 1 AND 2048),
        sub_key smallint NOT NULL CHECK (sub_key BETWEEN 1 AND 15),
        visibility smallint NOT NULL DEFAULT 0 CHECK (visibility BETWEEN 0 AND 2),
        classification smallint NOT NULL DEFAULT 0 CHECK (classification BETWEEN 0 AND 3),
        owner_source smallint CHECK (owner_source BETWEEN 1 AND 4),
        api_set smallint NOT NULL DEFAULT 0,
        version integer NOT NULL DEFAULT 1,
        owner_id uuid,
        created_at timestamptz NOT NULL DEFAULT now(),
        last_checked_at timestamptz,
        name text NOT NULL,
        description text,
        tags jsonb NOT NULL DEFAULT '[]',
        account_id text,
        region text,
        serial_number text,
        operating_system text,
        os_version text,
        email text,
        contains_patient_data boolean,
        contains_user_data boolean,
        user_data_info text,
        facet smallint GENERATED ALWAYS AS (
          CASE WHEN visibility = 0 THEN
            classification * 4
            + CASE WHEN owner_id IS NULL THEN 0 ELSE 2 END
            + CASE WHEN description IS NULL OR description = '' THEN 0 ELSE 1 END
          END) STORED,
        PRIMARY KEY (workspace_id, id),
        CHECK ((owner_id IS NULL) = (owner_source IS NULL))
      );
      COMMENT ON COLUMN asset.sub_key IS '1 to 11 the cloud leaves, 12 COMPUTER, 13 CUSTOM, 14 INFORMATION, 15 EMPLOYEE';
      COMMENT ON COLUMN asset.visibility IS '0 active, 1 hidden, 2 deleted';
      COMMENT ON COLUMN asset.classification IS '0 unknown, 1 public, 2 internal, 3 confidential';
      COMMENT ON COLUMN asset.owner_source IS '1 manual, 2 API, 3 integration, 4 rule';
      COMMENT ON COLUMN asset.api_set IS
        'Fields set through the API or console, which no import overwrites: 1 owner, 2 description, 4 classification, 8 customer tags';
      COMMENT ON COLUMN asset.version IS 'Rises with every change; the entity tag of the asset.';
      COMMENT ON COLUMN asset.tags IS 'asset_tag rendered for reading, sorted by the code points of the key';
      COMMENT ON COLUMN asset.facet IS 'classification × has owner × has description; NULL when not visible to clients';

      CREATE TABLE asset_tag (
        workspace_id uuid NOT NULL,
        asset_id bigint NOT NULL,
        tag_key_id bigint NOT NULL,
        value text CHECK (char_length(value) <= 255),
        PRIMARY KEY (workspace_id, asset_id, tag_key_id),
        FOREIGN KEY (workspace_id, asset_id) REFERENCES asset (workspace_id, id),
        FOREIGN KEY (workspace_id, tag_key_id) REFERENCES tag_key (workspace_id, id)
      );
      COMMENT ON COLUMN asset_tag.value IS 'Value of a platform tag; NULL for a customer tag, whose value is its key''s.';

      CREATE TABLE computer (
        workspace_id uuid NOT NULL,
        asset_id bigint NOT NULL,
        managed boolean,
        agent_version text,
        antivirus_installed boolean,
        disk_encryption_enabled boolean,
        password_manager_installed boolean,
        screen_lock_enabled boolean,
        PRIMARY KEY (workspace_id, asset_id),
        FOREIGN KEY (workspace_id, asset_id) REFERENCES asset (workspace_id, id)
      );
      COMMENT ON TABLE computer IS 'Posture of a COMPUTER asset, one row each; NULL is unknown, never false.';

      CREATE TABLE facet_count (
        workspace_id uuid NOT NULL,
        sub_key smallint NOT NULL,
        facet smallint NOT NULL,
        n bigint NOT NULL,
        PRIMARY KEY (workspace_id, sub_key, facet)
      ) WITH (fillfactor = 50);
      COMMENT ON TABLE facet_count IS 'Visible assets by sub key and facet; kept exact by the triggers on asset.';
    `);
  }

  private async createIndexes(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- A key may be longer than a B-tree entry may be.
      CREATE UNIQUE INDEX tag_key_key ON tag_key (workspace_id, md5(key));
      CREATE UNIQUE INDEX asset_public_id ON asset (workspace_id, public_id);
      CREATE UNIQUE INDEX asset_external_id ON asset (workspace_id, source, external_id);
      CREATE INDEX asset_visible ON asset (workspace_id, id) WHERE facet IS NOT NULL;
      CREATE INDEX asset_facet ON asset (workspace_id, facet, id) WHERE facet IS NOT NULL;
      CREATE INDEX asset_cloud_facet ON asset (workspace_id, facet, id) WHERE facet IS NOT NULL AND sub_key <= 11;
      CREATE INDEX asset_sub_key_facet ON asset (workspace_id, sub_key, facet, id) WHERE facet IS NOT NULL;
      CREATE INDEX asset_tag_by_key ON asset_tag (workspace_id, tag_key_id);
      ALTER TABLE asset ADD FOREIGN KEY (workspace_id, owner_id) REFERENCES asset (workspace_id, public_id);
    `);
  }

  /**
   * Statement-level triggers with transition tables. Each statement updates each counter once, however many rows it
   * touches, and in key order, so that statements cannot deadlock. SECURITY DEFINER, because the runtime role may not
   * write counters.
   */
  private async createFacetCounters(runner: QueryRunner): Promise<void> {
    const counter = (name: string, changes: string) => `
      CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
      BEGIN
        INSERT INTO facet_count AS counted (workspace_id, sub_key, facet, n)
        SELECT workspace_id, sub_key, facet, sum(change)
          FROM (${changes}) AS changes
         WHERE facet IS NOT NULL
         GROUP BY workspace_id, sub_key, facet
        HAVING sum(change) <> 0
         ORDER BY workspace_id, sub_key, facet
            ON CONFLICT (workspace_id, sub_key, facet) DO UPDATE SET n = counted.n + excluded.n;
        RETURN NULL;
      END $$;`;
    const added = 'SELECT workspace_id, sub_key, facet, 1 AS change FROM new_rows';
    const removed = 'SELECT workspace_id, sub_key, facet, -1 AS change FROM old_rows';
    await runner.query(`
      ${counter('count_inserted_facets', added)}
      ${counter('count_updated_facets', `${added} UNION ALL ${removed}`)}
      ${counter('count_deleted_facets', removed)}
      CREATE TRIGGER count_inserted_facets AFTER INSERT ON asset
        REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_inserted_facets();
      CREATE TRIGGER count_updated_facets AFTER UPDATE ON asset
        REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_updated_facets();
      CREATE TRIGGER count_deleted_facets AFTER DELETE ON asset
        REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION count_deleted_facets();
    `);
  }
}
