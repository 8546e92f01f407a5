import type { MigrationInterface, QueryRunner } from 'typeorm';
import { FORMER_COLUMNS, showFormerStates } from '../former-states';

/** A check in `asset.posture`, whose digit to the base 3 is 0 unknown, 1 failing, 2 passing. */
const check = (name: string, weight: number): string =>
  `CASE posture / ${weight} % 3 WHEN 1 THEN false WHEN 2 THEN true END AS ${name}`;

/**
 * Shows former states of assets and of computers as the rows that they were. The view of known assets has every asset,
 * visible or not, with what an owner shows.
 * security_invoker: the reader's own row-level security holds, not that of the view's owner.
 */
export class HistoryViews1780000000098 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ${showFormerStates(Object.keys(FORMER_COLUMNS))}
      CREATE VIEW former_computer WITH (security_invoker = true) AS
        SELECT workspace_id, id, version_id, from_change, to_change, facet, public_id, name, operating_system, os_version,
               serial_number, owner_id, last_checked_at, updated_at, source, tags, coalesce(posture >= 81, false) AS is_monitored, agent_version, posture,
               ${[
                 check('antivirus_installed', 27),
                 check('disk_encryption_enabled', 9),
                 check('password_manager_installed', 3),
                 check('screen_lock_enabled', 1),
               ].join(', ')}
          FROM former_asset WHERE sub_key = 12;
      CREATE VIEW known_asset WITH (security_invoker = true) AS
        SELECT workspace_id, id, public_id, change_id, facet, name, email, sub_key = 15 AS is_employee FROM asset;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP VIEW known_asset, former_computer, former_asset');
  }
}
