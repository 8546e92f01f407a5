import { tenantPolicy } from '#libs/platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { keepFormerStates } from '../former-states';

/** A check in `asset.posture`, whose digit to the base 3 is 0 unknown, 1 failing, 2 passing. */
const check = (name: string, weight: number): string =>
  `CASE posture / ${weight} % 3 WHEN 1 THEN false WHEN 2 THEN true END AS ${name}`;

/**
 * Keeps the former rows of assets when a change set ends them, once for each statement. The test is that of the feed, so
 * a check-in keeps nothing. The row has a computer's posture but for its agent version, which a writer of both must change
 * afterwards. The present state of an erased employee is kept as erased when it ends.
 *
 * Views show other features the former states of computers, and of owners. The view of known assets has every asset, visible
 * or not. security_invoker: the reader's own row-level security holds, not that of the view's owner.
 */
export class AssetVersions1780000000096 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE asset ADD COLUMN erased_change_id bigint;
      COMMENT ON COLUMN asset.erased_change_id IS
        'change_id when an operator erased the history of the employee; that state is kept as erased when it ends';

      CREATE TABLE asset_version (
        LIKE asset,
        version_id bigint GENERATED ALWAYS AS IDENTITY,
        to_change bigint NOT NULL,
        agent_version text,
        PRIMARY KEY (workspace_id, id, version_id)
      );
      COMMENT ON TABLE asset_version IS 'Former states of assets; kept by a trigger on asset.';
      COMMENT ON COLUMN asset_version.to_change IS 'change_set.id of the transaction that ended the state';
      -- for retention, which removes the states that ended first
      CREATE INDEX asset_version_ended ON asset_version (workspace_id, to_change);
      ${tenantPolicy('asset_version')}
    `);
    await keepFormerStates(runner);
    await runner.query(`
      REVOKE ALL ON FUNCTION keep_former_asset FROM PUBLIC;
      CREATE TRIGGER keep_former_asset AFTER UPDATE ON asset
        REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION keep_former_asset();

      CREATE VIEW former_computer WITH (security_invoker = true) AS
        SELECT workspace_id, id, version_id, change_id, to_change, facet, public_id, name, operating_system, os_version,
               serial_number, owner_id, last_checked_at, updated_at, source, tags, coalesce(posture >= 81, false) AS is_monitored, agent_version, posture,
               ${[
                 check('antivirus_installed', 27),
                 check('disk_encryption_enabled', 9),
                 check('password_manager_installed', 3),
                 check('screen_lock_enabled', 1),
               ].join(', ')}
          FROM asset_version WHERE sub_key = 12;
      CREATE VIEW known_asset WITH (security_invoker = true) AS
        SELECT workspace_id, id, public_id, change_id, facet, name, email, sub_key = 15 AS is_employee FROM asset;
      CREATE VIEW former_asset WITH (security_invoker = true) AS
        SELECT workspace_id, id, public_id, version_id, change_id, facet, name, email FROM asset_version;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP VIEW known_asset, former_asset, former_computer;
      DROP TRIGGER keep_former_asset ON asset; DROP FUNCTION keep_former_asset;
      DROP TABLE asset_version; ALTER TABLE asset DROP COLUMN erased_change_id`);
  }
}
