import type { MigrationInterface, QueryRunner } from 'typeorm';

const COLUMNS = `asset.workspace_id, asset.id, asset.public_id, asset.name, asset.operating_system, asset.os_version,
               asset.serial_number, asset.owner_id, asset.last_checked_at, asset.tags,
               (computer.agent_version IS NOT NULL OR computer.managed IS TRUE) AS is_monitored,
               computer.agent_version, computer.antivirus_installed, computer.disk_encryption_enabled,
               computer.password_manager_installed, computer.screen_lock_enabled`;
const ADDED = 'asset.updated_at, asset.source';
const JOINED = `FROM asset
          LEFT JOIN computer ON computer.workspace_id = asset.workspace_id AND computer.asset_id = asset.id`;

/** Two more columns of visible computers; and computers with their change sets, removed ones included. */
export class ComputerChanges1780000000033 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE OR REPLACE VIEW visible_computer WITH (security_invoker = true) AS
        SELECT ${COLUMNS}, ${ADDED} ${JOINED}
         WHERE asset.facet IS NOT NULL AND asset.sub_key = 12;
      CREATE VIEW changed_computer WITH (security_invoker = true) AS
        SELECT ${COLUMNS}, ${ADDED}, asset.change_id, asset.sub_key, asset.facet ${JOINED}
         WHERE asset.sub_key = 12;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP VIEW changed_computer; DROP VIEW visible_computer;
      CREATE VIEW visible_computer WITH (security_invoker = true) AS
        SELECT ${COLUMNS} ${JOINED}
         WHERE asset.facet IS NOT NULL AND asset.sub_key = 12;
    `);
  }
}
