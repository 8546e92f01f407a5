import { tenantPolicy } from '#libs/platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Keeps the former state of an asset when a change set ends it. The test is that of the feed, so a check-in keeps
 * nothing. The row has a computer's posture but for its agent version, which a writer of both must change afterwards.
 */
export class AssetVersions1780000000095 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE asset_version (
        workspace_id uuid NOT NULL,
        asset_id bigint NOT NULL,
        id bigint GENERATED ALWAYS AS IDENTITY,
        from_change bigint NOT NULL,
        to_change bigint NOT NULL,
        document jsonb NOT NULL,
        PRIMARY KEY (workspace_id, asset_id, id)
      );
      COMMENT ON TABLE asset_version IS 'Former states of assets; kept by a trigger on asset.';
      COMMENT ON COLUMN asset_version.from_change IS 'change_set.id of the transaction that made the state';
      COMMENT ON COLUMN asset_version.to_change IS 'change_set.id of the transaction that ended it';
      COMMENT ON COLUMN asset_version.document IS 'Columns of asset, and agent_version of computer';
      ${tenantPolicy('asset_version')}

      CREATE FUNCTION keep_former_asset() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      DECLARE
        document jsonb := to_jsonb(OLD) - '{workspace_id,id,api_set,change_id}'::text[];
      BEGIN
        IF OLD.posture IS NOT NULL THEN
          document := document || jsonb_build_object('agent_version', (
            SELECT agent_version FROM computer WHERE workspace_id = OLD.workspace_id AND asset_id = OLD.id));
        END IF;
        INSERT INTO asset_version (workspace_id, asset_id, from_change, to_change, document)
        VALUES (OLD.workspace_id, OLD.id, OLD.change_id, NEW.change_id, document);
        RETURN NULL;
      END $$;
      REVOKE ALL ON FUNCTION keep_former_asset FROM PUBLIC;
      CREATE TRIGGER keep_former_asset AFTER UPDATE ON asset
        FOR EACH ROW WHEN (OLD.change_id <> NEW.change_id) EXECUTE FUNCTION keep_former_asset();
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'DROP TRIGGER keep_former_asset ON asset; DROP FUNCTION keep_former_asset; DROP TABLE asset_version',
    );
  }
}
