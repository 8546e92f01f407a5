import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndexConcurrently } from '#libs/platform/database';

/**
 * The order of the public list within each of its filters. Recording an event touches none of them; its seal does.
 * Row-level security lets no query use an index of an expression, so updates of assets, which have no action, have an
 * index of their own.
 */
const INDEXES: Readonly<Record<string, string>> = {
  audit_event_by_action:
    'audit_event (workspace_id, action, sequence) WHERE sequence IS NOT NULL AND action IS NOT NULL',
  audit_event_updates: 'audit_event (workspace_id, sequence) WHERE sequence IS NOT NULL AND action IS NULL',
  audit_event_by_client: 'audit_event (workspace_id, client_id, sequence) WHERE sequence IS NOT NULL',
  audit_event_by_asset: 'audit_event (workspace_id, asset_id, sequence) WHERE sequence IS NOT NULL',
  audit_event_by_request: 'audit_event (workspace_id, request_id, sequence) WHERE sequence IS NOT NULL',
};

export class AuditFilterIndexes1780000000071 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const [name, definition] of Object.entries(INDEXES)) await buildIndexConcurrently(runner, name, definition);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const name of Object.keys(INDEXES)) await runner.query(`DROP INDEX ${name}`);
  }
}
