import { tenantPolicy } from '#libs/platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * LIMIT 1 on the key: one index lookup for each row, whatever is known of old_rows. A row that row-level security hides
 * from the function has no present state, and to_change must not be null.
 */
export const KEEP_FORMER_DOCUMENTS = `
      CREATE OR REPLACE FUNCTION keep_former_asset() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      BEGIN
        INSERT INTO asset_version (workspace_id, asset_id, from_change, to_change, document)
        SELECT former.workspace_id, former.id, former.change_id, present.change_id,
               CASE
                 WHEN former.posture IS NOT NULL THEN state.document || jsonb_build_object('agent_version', (
                   SELECT agent_version FROM computer WHERE workspace_id = former.workspace_id AND asset_id = former.id))
                 WHEN former.sub_key = 15 AND EXISTS (
                   SELECT FROM erased_employee AS erased
                    WHERE erased.workspace_id = former.workspace_id AND erased.asset_id = former.id
                      AND erased.change_id = former.change_id) THEN state.document || '{"name": "erased", "email": null}'
                 ELSE state.document
               END
          FROM old_rows AS former
          LEFT JOIN LATERAL (
            SELECT change_id FROM asset WHERE workspace_id = former.workspace_id AND id = former.id LIMIT 1
          ) AS present ON true
         CROSS JOIN LATERAL (
            SELECT to_jsonb(former) - '{workspace_id,id,visibility,api_set,change_id}'::text[] AS document OFFSET 0
          ) AS state
         WHERE present.change_id IS DISTINCT FROM former.change_id;
        RETURN NULL;
      END $$;`;

/**
 * Keeps the former states of assets when a change set ends them, once for each statement. The test is that of the feed, so
 * a check-in keeps nothing. The row has a computer's posture but for its agent version, which a writer of both must change
 * afterwards. The present state of an erased employee is kept as erased when it ends.
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

      CREATE TABLE erased_employee (
        workspace_id uuid NOT NULL,
        asset_id bigint NOT NULL,
        change_id bigint NOT NULL,
        PRIMARY KEY (workspace_id, asset_id)
      );
      COMMENT ON TABLE erased_employee IS 'Employees whose history was erased; the state of change_id is kept as erased when it ends.';
      ${tenantPolicy('erased_employee')}

      ${KEEP_FORMER_DOCUMENTS}
      REVOKE ALL ON FUNCTION keep_former_asset FROM PUBLIC;
      CREATE TRIGGER keep_former_asset AFTER UPDATE ON asset
        REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION keep_former_asset();
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TRIGGER keep_former_asset ON asset; DROP FUNCTION keep_former_asset;
      DROP TABLE erased_employee; DROP TABLE asset_version`);
  }
}
