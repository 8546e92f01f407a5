import { tenantPolicy } from '#libs/platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const keepFormer = (erased: string): string => `
      CREATE OR REPLACE FUNCTION keep_former_asset() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      DECLARE
        document jsonb := to_jsonb(OLD) - '{workspace_id,id,api_set,change_id}'::text[];
      BEGIN
        IF OLD.posture IS NOT NULL THEN
          document := document || jsonb_build_object('agent_version', (
            SELECT agent_version FROM computer WHERE workspace_id = OLD.workspace_id AND asset_id = OLD.id));
        END IF;
        ${erased}
        INSERT INTO asset_version (workspace_id, asset_id, from_change, to_change, document)
        VALUES (OLD.workspace_id, OLD.id, OLD.change_id, NEW.change_id, document);
        RETURN NULL;
      END $$;`;

/** The function of the trigger `keep_former_asset`, for each row. */
export const KEEP_FORMER_ROW = keepFormer(`
        IF OLD.sub_key = 15 AND EXISTS (
          SELECT FROM erased_employee AS erased
           WHERE erased.workspace_id = OLD.workspace_id AND erased.asset_id = OLD.id
             AND erased.change_id = OLD.change_id) THEN
          document := document || '{"name": "erased", "email": null}';
        END IF;`);

/** Remembers of which employees the state of then is kept without name and e-mail address when it ends. */
export class ErasedEmployees1780000000131 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE erased_employee (
        workspace_id uuid NOT NULL,
        asset_id bigint NOT NULL,
        change_id bigint NOT NULL,
        PRIMARY KEY (workspace_id, asset_id)
      );
      COMMENT ON TABLE erased_employee IS 'Employees whose history was erased; the state of change_id is kept as erased when it ends.';
      ${tenantPolicy('erased_employee')}
      ${KEEP_FORMER_ROW}
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`${keepFormer('')} DROP TABLE erased_employee`);
  }
}
