import type { MigrationInterface, QueryRunner } from 'typeorm';
import { tenantPolicy } from '#libs/platform/database';

/** The Merkle tree of each workspace's published events, by its frontier. Events of earlier releases join in batches. */
export class AuditTree1780000000075 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE audit_tree (
        workspace_id uuid PRIMARY KEY,
        size bigint NOT NULL CHECK (size > 0),
        link bytea NOT NULL CHECK (octet_length(link) = 32),
        roots bytea[] NOT NULL,
        mac bytea NOT NULL CHECK (octet_length(mac) = 32)
      ) WITH (fillfactor = 50);
      COMMENT ON TABLE audit_tree IS 'The Merkle tree (RFC 9162) of the published events of a workspace.';
      COMMENT ON COLUMN audit_tree.size IS 'Number of leaves: the sequence of the last event in the tree.';
      COMMENT ON COLUMN audit_tree.link IS 'The link of that event.';
      COMMENT ON COLUMN audit_tree.roots IS 'Roots of the largest complete subtrees, from left to right.';
      COMMENT ON COLUMN audit_tree.mac IS 'HMAC-SHA256 of the columns before it, under a key outside the database.';
      ${tenantPolicy('audit_tree', { ownerSeesAll: true })}
    `);
    await this.createFunctions(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION grow_audit_tree, workspaces_to_grow; DROP TABLE audit_tree');
  }

  /** Functions for work that the runtime role may not do directly. Each workspace has one row in either table. */
  private async createFunctions(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION workspaces_to_grow(OUT workspace_id uuid, OUT missing bigint) RETURNS SETOF record
        LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
        SELECT head.workspace_id, head.sequence - coalesce(tree.size, 0)
          FROM audit_head AS head LEFT JOIN audit_tree AS tree ON tree.workspace_id = head.workspace_id
         WHERE head.sequence > coalesce(tree.size, 0)
      $$;

      CREATE FUNCTION grow_audit_tree(before bigint, after bigint, link bytea, roots bytea[], mac bytea) RETURNS void
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      DECLARE
        workspace uuid := NULLIF(current_setting('app.workspace_id', true), '')::uuid;
      BEGIN
        IF before = 0 THEN
          INSERT INTO audit_tree (workspace_id, size, link, roots, mac)
          VALUES (workspace, after, grow_audit_tree.link, grow_audit_tree.roots, grow_audit_tree.mac);
        ELSE
          UPDATE audit_tree AS tree
             SET size = after, link = grow_audit_tree.link, roots = grow_audit_tree.roots, mac = grow_audit_tree.mac
           WHERE tree.workspace_id = workspace AND tree.size = before;
          IF NOT FOUND THEN
            RAISE EXCEPTION 'the tree does not end at %', before;
          END IF;
        END IF;
      END $$;
      REVOKE ALL ON FUNCTION workspaces_to_grow, grow_audit_tree FROM PUBLIC;
    `);
  }
}
