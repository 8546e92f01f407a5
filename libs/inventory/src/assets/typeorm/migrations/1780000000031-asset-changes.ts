import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Columns that clients see of an asset, except the time of its last check: a check-in is not a change. */
const VISIBLE = [
  'sub_key, visibility, classification, owner_source, owner_id, created_at, name, description, tags, account_id, region',
  'serial_number, operating_system, os_version, email, contains_patient_data, contains_user_data, user_data_info',
]
  .join(', ')
  .split(', ');
const IS_VISIBLE_CHANGE = VISIBLE.map((column) => `OLD.${column} IS DISTINCT FROM NEW.${column}`).join(' OR ');

/**
 * Every asset names the change set that changed it last. Assets that are there belong to set 0, the first of each
 * workspace. Postgres keeps both defaults beside the table, so that no row is rewritten.
 */
export class AssetChanges1780000000031 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE asset ADD COLUMN change_id bigint NOT NULL DEFAULT 0,
                        ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now(),
                        ADD COLUMN posture smallint;
      -- contract: no release knows the column yet
      ALTER TABLE asset ALTER COLUMN change_id DROP DEFAULT;
      COMMENT ON COLUMN asset.change_id IS 'change_set.id of the transaction that made the last visible change';
      COMMENT ON COLUMN asset.posture IS
        'Of a computer: monitored × 81, then 27, 9, 3 and 1 × the checks (0 unknown, 1 failing, 2 passing) in the order of computer';
      COMMENT ON COLUMN asset.updated_at IS 'Last visible change; for older assets when this column was added';
    `);
    await this.numberForgottenChanges(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TRIGGER take_forgotten_insert_ticket ON asset; DROP TRIGGER take_forgotten_update_ticket ON asset;
      DROP TRIGGER number_forgotten_change ON change_set;
      DROP FUNCTION draw_forgotten_ticket, number_forgotten_change; ALTER TABLE asset DROP COLUMN change_id, DROP COLUMN updated_at, DROP COLUMN posture`);
  }

  /**
   * An instance of the release before knows nothing of tickets. Its transaction gets one here: a change set without a
   * number, which COMMIT replaces by one that has the next. An asset that stays hidden, or stays deleted, keeps the change
   * set of its removal. So feeds tell the removal once, and a purge by age counts from it. From hidden to deleted is a
   * removal too.
   */
  private async numberForgottenChanges(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION draw_forgotten_ticket() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      DECLARE
        drawn text[] := string_to_array(current_setting('app.forgotten_ticket', true), ' ');
      BEGIN
        IF TG_OP = 'UPDATE' AND OLD.visibility <> 0 AND NEW.visibility = OLD.visibility THEN RETURN NEW; END IF;
        IF drawn[1] IS DISTINCT FROM NEW.workspace_id::text THEN
          drawn := ARRAY[NEW.workspace_id::text, nextval('change_set_id')::text];
          PERFORM set_config('app.forgotten_ticket', array_to_string(drawn, ' '), true);
          INSERT INTO change_set (workspace_id, sequence, id, changed_at, origin)
          VALUES (NEW.workspace_id, -drawn[2]::bigint, drawn[2]::bigint, now(), 3);
        END IF;
        NEW.change_id := drawn[2]::bigint;
        NEW.updated_at := now();
        RETURN NEW;
      END $$;
      REVOKE ALL ON FUNCTION draw_forgotten_ticket FROM PUBLIC;
      CREATE TRIGGER take_forgotten_insert_ticket BEFORE INSERT ON asset
        FOR EACH ROW WHEN (NEW.change_id IS NULL) EXECUTE FUNCTION draw_forgotten_ticket();
      CREATE TRIGGER take_forgotten_update_ticket BEFORE UPDATE ON asset
        FOR EACH ROW WHEN (NEW.change_id = OLD.change_id AND (${IS_VISIBLE_CHANGE}))
        EXECUTE FUNCTION draw_forgotten_ticket();

      CREATE FUNCTION number_forgotten_change() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      BEGIN
        DELETE FROM change_set WHERE workspace_id = NEW.workspace_id AND sequence = NEW.sequence;
        PERFORM take_change_ticket(NEW.workspace_id, NEW.id, NEW.origin, NULL, NULL);
        RETURN NULL;
      END $$;
      REVOKE ALL ON FUNCTION number_forgotten_change FROM PUBLIC;
      CREATE CONSTRAINT TRIGGER number_forgotten_change AFTER INSERT ON change_set DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (NEW.sequence < 0) EXECUTE FUNCTION number_forgotten_change();
    `);
  }
}
