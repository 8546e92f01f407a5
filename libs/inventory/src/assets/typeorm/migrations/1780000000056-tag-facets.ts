import type { MigrationInterface, QueryRunner } from 'typeorm';
import { type SummedCounter, dropSummedCounter, summedCounter } from '../counters';

const TAGS: SummedCounter = {
  what: 'tag',
  table: 'asset_tag',
  column: 'tag_key_id',
  type: 'bigint',
  byFacet: true,
};

/**
 * A tag knows type and facet of its asset, so that the assets of a tag key can be listed without reading hidden ones.
 * Writers set both. The first trigger does it for an instance of the release before, the second keeps them equal. Tags are
 * counted as soon as they know them.
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

      -- SECURITY DEFINER, because the runtime role may not update tags. Plans are kept, also from when there were few tags.
      CREATE FUNCTION update_tag_facets() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
        SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off AS $$
      BEGIN
        UPDATE asset_tag AS tag SET sub_key = moved.sub_key, facet = moved.facet
          FROM (SELECT workspace_id, id, sub_key, facet FROM new_rows
                EXCEPT SELECT workspace_id, id, sub_key, facet FROM old_rows) AS moved
         WHERE tag.workspace_id = moved.workspace_id AND tag.asset_id = moved.id;
        RETURN NULL;
      END $$;
      REVOKE ALL ON FUNCTION update_tag_facets FROM PUBLIC;
      CREATE TRIGGER update_tag_facets AFTER UPDATE ON asset
        REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION update_tag_facets();
      ${summedCounter(TAGS)}
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ${dropSummedCounter(TAGS)}
      DROP FUNCTION fill_tag_facet, update_tag_facets CASCADE;
      ALTER TABLE asset_tag DROP COLUMN sub_key, DROP COLUMN facet`);
  }
}
