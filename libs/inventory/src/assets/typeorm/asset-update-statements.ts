import type { AssetId, WorkspaceId } from '#libs/kernel';
import { type BoundStatement, GATE_IS_OPEN, bind, prepared } from '#libs/platform/database';
import type { Asset } from '../domain/asset';
import type { AssetPatch } from '../domain/asset-patch';
import { NEW_CHANGE_SET_ID } from '#libs/platform/changes';
import { EACH_WRITTEN_FIELD, EMPLOYEE, SELECTED } from './asset.row';

/** Locks in the order of the ids, like every other writer, so updates cannot deadlock. A replay waits for no asset. */
const LOCK = prepared(
  'asset_lock',
  `
    SELECT ${SELECTED} FROM asset
     WHERE workspace_id = $1 AND public_id = ANY ($2::uuid[]) AND facet IS NOT NULL AND ${GATE_IS_OPEN}
     ORDER BY id FOR NO KEY UPDATE`,
);

/**
 * Reads without a lock. An employee who is hidden before the COMMIT stays owner, as one does who is hidden later:
 * hiding reads nothing that this update writes, so the result is as if the update came first. A lock would make each
 * such update wait for imports that contain the same person.
 */
const FIND_EMPLOYEE = prepared(
  'asset_find_employee',
  `
    SELECT 1 FROM asset WHERE workspace_id = $1 AND public_id = $2::uuid AND sub_key = ${EMPLOYEE} AND facet IS NOT NULL`,
);

const WANTED_KEYS = `(SELECT key FROM jsonb_array_elements_text($2::jsonb) AS wanted (key))`;

const FIND_TAG_KEYS = prepared(
  'tag_key_find',
  `
    SELECT tag_key.key, value, platform FROM ${WANTED_KEYS} AS wanted
      JOIN tag_key ON workspace_id = $1 AND md5(tag_key.key) = md5(wanted.key) AND tag_key.key = wanted.key`,
);

/** Marks the patch's fields as set through the API, even when their values stay the same. */
const MARK = prepared(
  'asset_mark',
  `
    UPDATE asset SET api_set = api_set | $3::smallint
     WHERE workspace_id = $1 AND public_id = ANY ($2::uuid[]) AND api_set & $3::smallint <> $3::smallint`,
);

const UNTAG = prepared(
  'asset_untag',
  `
    DELETE FROM asset_tag USING asset, tag_key
     WHERE asset.workspace_id = $1 AND asset.public_id = $3::uuid
       AND asset_tag.workspace_id = $1 AND asset_tag.asset_id = asset.id
       AND tag_key.workspace_id = $1 AND tag_key.id = asset_tag.tag_key_id
       AND NOT tag_key.platform AND tag_key.key NOT IN ${WANTED_KEYS}`,
);

/**
 * A key that was deleted meanwhile leaves a row without a key, which the table refuses. The update is then repeated.
 */
const TAG = prepared(
  'asset_tag',
  `
    INSERT INTO asset_tag (workspace_id, asset_id, tag_key_id)
    SELECT $1::uuid, asset.id, tag_key.id
      FROM asset, jsonb_to_recordset($2::jsonb) AS wanted (key text, value text)
      LEFT JOIN tag_key ON tag_key.workspace_id = $1 AND md5(tag_key.key) = md5(wanted.key) AND tag_key.key = wanted.key
           AND NOT tag_key.platform AND coalesce(tag_key.value, '') = wanted.value
     WHERE asset.workspace_id = $1 AND asset.public_id = $3::uuid
        ON CONFLICT DO NOTHING`,
);

/** Behind the lock, so that the time is one at which it was held. */
const TELL_TIME = prepared('asset_tell_time', 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint');

/** Returns statements for the assets, the time and then, when the patch names them, its owner and its tag keys. */
export function lockStatements(workspaceId: WorkspaceId, ids: readonly AssetId[], patch: AssetPatch): BoundStatement[] {
  const statements: BoundStatement[] = [bind(LOCK, [workspaceId, uuidArray(ids)])];
  statements.push(bind(TELL_TIME, []));
  if (patch.ownerId) statements.push(bind(FIND_EMPLOYEE, [workspaceId, patch.ownerId]));
  if (patch.tags?.length) {
    statements.push(bind(FIND_TAG_KEYS, [workspaceId, JSON.stringify([...new Set(patch.tags)])]));
  }
  return statements;
}

/** Returns a statement that writes only the patch's fields, with the same values for all assets. */
export function updateStatement(
  workspaceId: WorkspaceId,
  patch: AssetPatch,
  assets: readonly [Asset, ...Asset[]],
): BoundStatement {
  const written = EACH_WRITTEN_FIELD.filter(([field]) => patch[field] !== undefined);
  const columns = written.flatMap(([, field]) => field.columns);
  const set = columns.map(({ column, type }, index) => `${column} = $${index + 5}::${type}, `).join('');
  // Assets of one bulk share their time of update, as they share their change set.
  const updatedAt = new Date(Math.max(...assets.map((asset) => asset.updatedAt.getTime())));
  const text = `
      UPDATE asset SET ${set}api_set = api_set | $3::smallint, updated_at = $4::timestamptz, version = version + 1,
             change_id = ${NEW_CHANGE_SET_ID}
       WHERE workspace_id = $1 AND public_id = ANY ($2::uuid[])`;
  return bind(prepared('asset_update', text), [
    ...[workspaceId, uuidArray(assets.map(({ id }) => id)), String(apiSetBits(patch)), updatedAt.toISOString()],
    ...columns.map(({ value }) => value(assets[0])),
  ]);
}

export function markStatement(workspaceId: WorkspaceId, patch: AssetPatch, ids: readonly AssetId[]): BoundStatement {
  return bind(MARK, [workspaceId, uuidArray(ids), String(apiSetBits(patch))]);
}

/** Replaces the asset's rows in asset_tag with its current customer keys. */
export function tagStatements(workspaceId: WorkspaceId, { id, tags }: Asset): BoundStatement[] {
  const wanted = tags.filter(({ readOnly }) => !readOnly);
  const keys = wanted.map(({ key }) => key);
  return [
    bind(UNTAG, [workspaceId, JSON.stringify(keys), id]),
    bind(TAG, [workspaceId, JSON.stringify(wanted.map(({ key, value }) => ({ key, value }))), id]),
  ];
}

/** Returns the patch's fields as bits of asset.api_set; 0 for none. */
export function apiSetBits(patch: AssetPatch): number {
  return EACH_WRITTEN_FIELD.reduce((bits, [field, { bit }]) => (patch[field] === undefined ? bits : bits | bit), 0);
}

/** Ids were validated, so they need no quoting. */
const uuidArray = (ids: readonly AssetId[]): string => `{${ids.join(',')}}`;
