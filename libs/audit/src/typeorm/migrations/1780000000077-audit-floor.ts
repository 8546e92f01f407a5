import type { MigrationInterface, QueryRunner } from 'typeorm';
import { tenantPolicy } from '#libs/platform/database';

/** Where the kept events of a workspace begin, once older ones were archived. Only the owner raises it. */
export class AuditFloor1780000000077 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE audit_floor (
        workspace_id uuid PRIMARY KEY,
        sequence bigint NOT NULL CHECK (sequence > 0),
        link bytea NOT NULL CHECK (octet_length(link) = 32),
        roots bytea[] NOT NULL,
        recorded_at timestamptz(3) NOT NULL,
        mac bytea NOT NULL CHECK (octet_length(mac) = 32)
      );
      COMMENT ON TABLE audit_floor IS 'The last archived event of a workspace: it and those before it were removed.';
      COMMENT ON COLUMN audit_floor.sequence IS 'Its place in the chain.';
      COMMENT ON COLUMN audit_floor.link IS 'Its link.';
      COMMENT ON COLUMN audit_floor.roots IS 'The Merkle tree that ends with it, as in audit_tree.';
      COMMENT ON COLUMN audit_floor.recorded_at IS 'When it was recorded, as in audit_seal.';
      COMMENT ON COLUMN audit_floor.mac IS 'HMAC-SHA256 of the columns before it, under a key outside the database.';
      ${tenantPolicy('audit_floor', { ownerSeesAll: true })}
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE audit_floor');
  }
}
