import type { WorkspaceId } from '#libs/kernel';
import { NEW_CHANGE_SET_ID, originCode } from '#libs/platform/changes';
import { isIndexed } from '#libs/platform/lists';
import { escapeLiteral } from 'pg';
import { lowerCase } from '../../assets/typeorm/asset.row';
import { STAGED, STAGING_COLUMNS } from './import-rows';

/**
 * Staged: a batch as it was sent. Matched: its records that differ from the inventory. Deferred: records that wait for
 * an owner. Waiting employee: those among them who own others. Planned: what a dry run would have written that later records
 * refer to. Rekeyed: new computers that are an asset of before.
 */
export const CREATE_TABLES = `
  CREATE TEMP TABLE import_staged (${STAGING_COLUMNS});
  CREATE TEMP TABLE import_matched (LIKE import_staged, asset_id bigint, is_new boolean,
    owner_id uuid, refusal text, waits boolean, changed boolean, retagged boolean, checked boolean);
  CREATE TEMP TABLE import_deferred (LIKE import_staged);
  CREATE INDEX import_deferred_place ON import_deferred (place);
  CREATE TEMP TABLE import_named (external_id text);
  CREATE TEMP TABLE import_waiting_employee (place bigint, external_id text PRIMARY KEY, public_id uuid, email text);
  CREATE INDEX import_waiting_employee_public_id ON import_waiting_employee (public_id);
  CREATE INDEX import_waiting_employee_email ON import_waiting_employee (${lowerCase('email')}) WHERE ${isIndexed('email')};
  CREATE TEMP TABLE import_planned (
    external_id text PRIMARY KEY, public_id uuid UNIQUE, sub_key smallint, is_visible boolean, email text);
  CREATE INDEX import_planned_email ON import_planned (${lowerCase('email')}) WHERE ${isIndexed('email')};
  CREATE TEMP TABLE import_new_computer (place bigint PRIMARY KEY, serial text, external_id text);
  CREATE TEMP TABLE import_rekeyed (external_id text PRIMARY KEY, old_external_id text, asset_id bigint UNIQUE);`;

export const beginIn = (workspaceId: WorkspaceId): string =>
  `BEGIN; SET LOCAL app.workspace_id = ${escapeLiteral(workspaceId)}`;

/** Opens a batch in its workspace and empties the tables of the previous one. */
export const beginBatch = (workspaceId: WorkspaceId): string =>
  `${beginIn(workspaceId)}; TRUNCATE import_staged, import_matched`;

/** The change set of the batch. */
export const DRAW_CHANGE_SET_ID = `SELECT ${NEW_CHANGE_SET_ID} AS id`;
/** In one query: the ticket holds a lock on which other writers wait. */
export const commitChanges = (workspaceId: WorkspaceId, changeSetId: string, who: string | null): string => `
  SELECT take_change_ticket(${escapeLiteral(workspaceId)}::uuid, ${escapeLiteral(changeSetId)}::bigint,
                            ${originCode('IMPORT')}::smallint, ${who === null ? 'NULL' : escapeLiteral(who)}, NULL);
  COMMIT`;

export const COPY_STAGED = `COPY import_staged (${STAGED}) FROM STDIN`;
