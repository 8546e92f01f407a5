import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Marks change sets whose assets all changed again, so that readers who begin do not walk over them. */
export class EmptyChangeSets1780000000043 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // It works across workspaces, and so with the rights of the owner. An empty set stays empty.
    await runner.query(`
      CREATE FUNCTION mark_empty_change_sets(INOUT workspace uuid, INOUT after bigint, batch integer)
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off AS $$
      DECLARE
        one record;
      BEGIN
        FOR one IN
          SELECT workspace_id, sequence, id FROM change_set
           WHERE NOT emptied AND (workspace_id, sequence) > (workspace, after)
           ORDER BY workspace_id, sequence LIMIT batch
        LOOP
          PERFORM set_config('app.workspace_id', one.workspace_id::text, true);
          IF NOT EXISTS (SELECT FROM asset WHERE workspace_id = one.workspace_id AND change_id = one.id) THEN
            UPDATE change_set SET emptied = true WHERE workspace_id = one.workspace_id AND sequence = one.sequence;
          END IF;
        END LOOP;
        workspace := one.workspace_id;
        after := one.sequence;
      END $$;
      REVOKE ALL ON FUNCTION mark_empty_change_sets FROM PUBLIC;
      COMMENT ON FUNCTION mark_empty_change_sets IS
        'Looks at so many sets behind the given one, and returns the last one, or NULL when none follows.';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION mark_empty_change_sets');
  }
}
