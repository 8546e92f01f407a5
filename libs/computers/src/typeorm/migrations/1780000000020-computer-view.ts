import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The view through which the computers feature reads the inventory: visible COMPUTER assets, monitored or not. */
export class ComputerView1780000000020 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE INDEX asset_visible_computer ON asset (workspace_id, id) WHERE facet IS NOT NULL AND sub_key = 12;
      -- security_invoker: the reader's own row-level security holds, not that of the view's owner.
      CREATE VIEW visible_computer WITH (security_invoker = true) AS
        SELECT asset.workspace_id, asset.id, asset.public_id, asset.name, asset.operating_system, asset.os_version,
               asset.serial_number, asset.owner_id, asset.last_checked_at, asset.tags,
               (computer.agent_version IS NOT NULL OR computer.managed IS TRUE) AS is_monitored,
               computer.agent_version, computer.antivirus_installed, computer.disk_encryption_enabled,
               computer.password_manager_installed, computer.screen_lock_enabled
          FROM asset
          LEFT JOIN computer ON computer.workspace_id = asset.workspace_id AND computer.asset_id = asset.id
         WHERE asset.facet IS NOT NULL AND asset.sub_key = 12;
      CREATE VIEW visible_computer_count WITH (security_invoker = true) AS
        SELECT workspace_id, sum(n) AS n FROM facet_count WHERE sub_key = 12 GROUP BY workspace_id;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'DROP VIEW visible_computer_count; DROP VIEW visible_computer; DROP INDEX asset_visible_computer',
    );
  }
}
