import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A tag knows type and facet of its asset, so that the assets of a tag key can be listed without reading hidden ones.
 * Writers set both. The first trigger does it for an instance of the release before, the second keeps them equal.
 */
export class TagFacets1780000000056 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE asset_tag ADD COLUMN sub_key smallint, ADD COLUMN facet smallint;
      COMMENT ON COLUMN asset_tag.sub_key IS 'asset.sub_key; NULL until a migration has filled it';
      COMMENT ON COLUMN asset_tag.facet IS 'asset.facet; kept equal by a trigger on asset';

      CREATE FUNCTION fill_tag_facet() RETURNS trigger LANGUAGE plpgsql
        SET search_path = pg_catalog, public, pg_temp AS $$
      BEGIN
        SELECT sub_key, facet INTO NEW.sub_key, NEW.facet FROM asset
         WHERE workspace_id = NEW.workspace_id AND id = NEW.asset_id;
        RETURN NEW;
      END $$;
      REVOKE ALL ON FUNCTION fill_tag_facet FROM PUBLIC;
      CREATE TRIGGER fill_tag_facet BEFORE INSERT ON asset_tag
        FOR EACH ROW WHEN (NEW.sub_key IS NULL) EXECUTE FUNCTION fill_tag_facet();

      -- SECURITY DEFINER, because the runtime role may not update tags.
      CREATE FUNCTION update_tag_facets() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
        SET search_path = pg_catalog, public, pg_temp AS $$
      BEGIN
        UPDATE asset_tag SET sub_key = NEW.sub_key, facet = NEW.facet
         WHERE workspace_id = NEW.workspace_id AND asset_id = NEW.id;
        RETURN NULL;
      END $$;
      REVOKE ALL ON FUNCTION update_tag_facets FROM PUBLIC;
      CREATE TRIGGER update_tag_facets AFTER UPDATE ON asset
        FOR EACH ROW WHEN (OLD.facet IS DISTINCT FROM NEW.facet OR OLD.sub_key <> NEW.sub_key)
        EXECUTE FUNCTION update_tag_facets();
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION fill_tag_facet, update_tag_facets CASCADE;
      ALTER TABLE asset_tag DROP COLUMN sub_key, DROP COLUMN facet`);
  }
}
