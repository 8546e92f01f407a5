import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `draw_forgotten_ticket` of migration 1780000000031, with this before it draws. */
const withGuard = (guard: string): string => `
  CREATE OR REPLACE FUNCTION draw_forgotten_ticket() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  DECLARE
    drawn text[] := string_to_array(current_setting('app.forgotten_ticket', true), ' ');
  BEGIN
    ${guard}
    IF drawn[1] IS DISTINCT FROM NEW.workspace_id::text THEN
      drawn := ARRAY[NEW.workspace_id::text, nextval('change_set_id')::text];
      PERFORM set_config('app.forgotten_ticket', array_to_string(drawn, ' '), true);
      INSERT INTO change_set (workspace_id, sequence, id, changed_at, origin)
      VALUES (NEW.workspace_id, -drawn[2]::bigint, drawn[2]::bigint, now(), 3);
    END IF;
    NEW.change_id := drawn[2]::bigint;
    NEW.updated_at := now();
    RETURN NEW;
  END $$`;

/**
 * Lets a writer change an asset that stays hidden or deleted, without a ticket. The asset keeps the change set of its
 * removal, so that feeds tell the removal once, and a purge by age counts from it.
 */
export class HiddenChanges1780000000136 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      withGuard(
        `IF TG_OP = 'UPDATE' AND OLD.visibility <> 0 AND NEW.visibility = OLD.visibility THEN RETURN NEW; END IF;`,
      ),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(withGuard(''));
  }
}
