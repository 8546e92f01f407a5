import { tenantPolicy } from '#libs/platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { FORMER_COLUMNS, keepFormerStates } from '../former-states';

const KEPT = Object.entries(FORMER_COLUMNS);
const NEVER_NULL = new Set([
  ...['public_id', 'sub_key', 'classification', 'name', 'external_id', 'source'],
  ...['created_at', 'updated_at', 'version', 'tags'],
]);

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
        ${KEPT.map(([column, type]) => `${column} ${type}${NEVER_NULL.has(column) ? ' NOT NULL' : ''}`).join(', ')},
        PRIMARY KEY (workspace_id, asset_id, id)
      );
      COMMENT ON TABLE asset_version IS 'Former states of assets; kept by a trigger on asset.';
      COMMENT ON COLUMN asset_version.from_change IS 'change_set.id of the transaction that made the state';
      COMMENT ON COLUMN asset_version.to_change IS 'change_set.id of the transaction that ended it';
      ${tenantPolicy('asset_version')}

      ALTER TABLE asset ADD COLUMN erased_change_id bigint;
      COMMENT ON COLUMN asset.erased_change_id IS
        'change_id when an operator erased the history of the employee; that state is kept as erased when it ends';

      ${keepFormerStates(KEPT.map(([column]) => column))}
      REVOKE ALL ON FUNCTION keep_former_asset FROM PUBLIC;
      CREATE TRIGGER keep_former_asset AFTER UPDATE ON asset
        REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION keep_former_asset();
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TRIGGER keep_former_asset ON asset; DROP FUNCTION keep_former_asset;
      ALTER TABLE asset DROP COLUMN erased_change_id; DROP TABLE asset_version`);
  }
}
