import type { WorkspaceId } from '#libs/kernel';
import { type BoundStatement, GATE_IS_OPEN, RowBudget, bind, prepared } from '#libs/platform/database';
import { type AssetPatch, type PatchedAsset, customerTags } from '../domain/asset-patch';
import type { AssetUpdate } from '../domain/asset-repository.port';
import { NEW_CHANGE_SET_ID } from '#libs/platform/changes';
import { ASSET_COLUMNS, EACH_WRITTEN_FIELD, EMPLOYEE, WRITTEN_COLUMNS, emailIs, mergedTags } from './asset.row';

/** Of all assets of $3 together. An asset with more than its share comes with null, and {@link longTags} reads its tags. */
const LONG_TAGS = 500_000;
const TAGS_OF_RETAGGED = `
  CASE WHEN public_id <> ALL ($3::uuid[]) THEN '[]'
       WHEN octet_length(tags::text) <= ${LONG_TAGS} / greatest(cardinality($3::uuid[]), 1) THEN tags END`;
/**
 * Locks in the order of the ids, like every other writer, so updates cannot deadlock. A replay waits for no asset. Reads the
 * tags of the assets of $3 alone.
 */
const LOCK = prepared(
  'asset_lock',
  `
    SELECT ${ASSET_COLUMNS.selected.map((column) => (column === 'tags' ? TAGS_OF_RETAGGED : column)).join(', ')} FROM asset
     WHERE workspace_id = $1 AND public_id = ANY ($2::uuid[]) AND facet IS NOT NULL AND ${GATE_IS_OPEN}
     ORDER BY id FOR NO KEY UPDATE`,
);
const READ_TAGS = prepared(
  'asset_read_tags',
  `SELECT public_id, tags FROM asset WHERE workspace_id = $1 AND public_id = ANY ($2::uuid[])`,
);
/** Of all locked assets together. An update holds them several times: as text, as objects and in the audit. */
const MOST_LOCKED_BYTES = 10_000_000;
/** Tags of an asset may have megabytes. */
const FIRST_PORTION = 4;

/**
 * Reads without a lock. An employee who is hidden before the COMMIT stays owner, as one does who is hidden later:
 * hiding reads nothing that this update writes, so the result is as if the update came first. A lock would make each
 * such update wait for imports that contain the same person.
 */
const FIND_EMPLOYEES = prepared(
  'asset_find_employees',
  `
    SELECT public_id FROM asset
     WHERE workspace_id = $1 AND public_id = ANY ($2::uuid[]) AND sub_key = ${EMPLOYEE} AND facet IS NOT NULL`,
);

/** Two employees of each address are enough to tell that it is ambiguous. */
const FIND_BY_EMAIL = prepared(
  'asset_find_by_email',
  `
    SELECT wanted.email, public_id FROM jsonb_array_elements_text($2::jsonb) AS wanted (email)
     CROSS JOIN LATERAL (
       SELECT public_id FROM asset
        WHERE workspace_id = $1 AND facet IS NOT NULL AND ${emailIs('wanted.email')} LIMIT 2) AS employee`,
);

const FIND_TAG_KEYS = prepared(
  'tag_key_find',
  `
    SELECT tag_key.key, value, platform FROM jsonb_array_elements_text($2::jsonb) AS wanted (key)
      JOIN tag_key ON workspace_id = $1 AND md5(tag_key.key) = md5(wanted.key) AND tag_key.key = wanted.key`,
);

/** Marks the patch's fields as set through the API, even when their values stay the same. */
const MARK = prepared(
  'asset_mark',
  `
    UPDATE asset SET api_set = api_set | bits FROM jsonb_to_recordset($2::jsonb) AS given (id uuid, bits smallint)
     WHERE workspace_id = $1 AND public_id = given.id AND api_set & bits <> bits`,
);

const UNTAG = prepared(
  'asset_untag',
  `
    DELETE FROM asset_tag USING jsonb_to_recordset($2::jsonb) AS given (id uuid, keys jsonb), asset, tag_key
     WHERE asset.workspace_id = $1 AND asset.public_id = given.id
       AND asset_tag.workspace_id = $1 AND asset_tag.asset_id = asset.id
       AND tag_key.workspace_id = $1 AND tag_key.id = asset_tag.tag_key_id
       AND NOT tag_key.platform AND NOT keys ? tag_key.key`,
);

/**
 * A key that was deleted meanwhile leaves a row without a key, which the table refuses. The update is then repeated.
 */
const TAG = prepared(
  'asset_tag',
  `
    INSERT INTO asset_tag (workspace_id, asset_id, tag_key_id)
    SELECT $1::uuid, asset.id, tag_key.id
      FROM jsonb_to_recordset($2::jsonb) AS given (id uuid, key text, value text)
      JOIN asset ON asset.workspace_id = $1 AND asset.public_id = given.id
      LEFT JOIN tag_key ON tag_key.workspace_id = $1 AND md5(tag_key.key) = md5(given.key) AND tag_key.key = given.key
           AND NOT tag_key.platform AND coalesce(tag_key.value, '') = given.value
        ON CONFLICT DO NOTHING`,
);

/** Behind the lock, so that the time is one at which it was held. */
const TELL_TIME = prepared('asset_tell_time', 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint');

/** Returns the statements of each part of a lock. A part without names has none. */
export function lockStatements(workspaceId: WorkspaceId, updates: readonly AssetUpdate[]) {
  const find = (statement: typeof FIND_EMPLOYEES, names: readonly string[], toValue: (names: string[]) => string) =>
    names.length > 0 ? bind(statement, [workspaceId, toValue([...new Set(names)])]) : null;
  const ids = updates.map(({ id }) => id);
  const patches = updates.map(({ patch }) => patch);
  const withTags = updates.filter(({ patch }) => patch.tags !== undefined || updates.length === 1).map(({ id }) => id);
  return {
    assets: bind(LOCK, [workspaceId, uuidArray(ids), uuidArray(withTags)]),
    time: bind(TELL_TIME, []),
    employees: find(
      FIND_EMPLOYEES,
      patches.flatMap(({ ownerId }) => ownerId ?? []),
      uuidArray,
    ),
    byEmail: find(
      FIND_BY_EMAIL,
      patches.flatMap(({ ownerEmail }) => ownerEmail ?? []),
      JSON.stringify,
    ),
    tagKeys: find(
      FIND_TAG_KEYS,
      patches.flatMap(({ tags }) => tags ?? []),
      JSON.stringify,
    ),
  };
}

/** Returns the statement that reads the tags of locked assets. */
export function longTags(workspaceId: WorkspaceId, ids: readonly string[]) {
  const budget = new RowBudget(ids.length, MOST_LOCKED_BYTES, 1, FIRST_PORTION);
  return { budget, statement: bind(READ_TAGS, [workspaceId, uuidArray(ids)], budget) };
}

const becomes = (column: string): string =>
  column === 'tags' ? mergedTags('given.tags', 'asset.tags') : `given.${column}`;
const SET_PATCHED = EACH_WRITTEN_FIELD.flatMap(([, { bit, columns }]) =>
  columns.map(
    ({ column }) => `${column} = CASE WHEN bits & ${bit} = 0 THEN asset.${column} ELSE ${becomes(column)} END`,
  ),
);

/** Writes the fields of each patch. */
const UPDATE = prepared(
  'asset_update',
  `
    UPDATE asset SET ${SET_PATCHED.join(', ')},
           api_set = api_set | bits, updated_at = given.updated_at, version = version + 1,
           change_id = ${NEW_CHANGE_SET_ID}
      FROM jsonb_to_recordset($2::jsonb) AS given (
             id uuid, bits smallint, updated_at timestamptz,
             ${WRITTEN_COLUMNS.map(({ column, type }) => `${column} ${type}`).join(', ')})
     WHERE workspace_id = $1 AND public_id = given.id`,
);

/** Returns statements that write changed assets. */
export function updateStatements(workspaceId: WorkspaceId, changed: readonly PatchedAsset[]): BoundStatement[] {
  const statements = [bind(UPDATE, [workspaceId, JSON.stringify(changed.map(toRow))])];
  const retagged = changed.filter(({ patch }) => patch.tags).map(({ asset }) => asset);
  if (retagged.length === 0) return statements;
  const keys = retagged.map((asset) => ({ id: asset.id, keys: customerTags(asset).map(({ key }) => key) }));
  const rows = retagged.flatMap((asset) => customerTags(asset).map(({ key, value }) => ({ id: asset.id, key, value })));
  statements.push(bind(UNTAG, [workspaceId, JSON.stringify(keys)]));
  if (rows.length > 0) statements.push(bind(TAG, [workspaceId, JSON.stringify(rows)]));
  return statements;
}

/** Returns a statement for assets that keep their values. */
export function markStatement(workspaceId: WorkspaceId, kept: readonly PatchedAsset[]): BoundStatement {
  const rows = kept.map(({ asset, patch }) => ({ id: asset.id, bits: apiSetBits(patch) }));
  return bind(MARK, [workspaceId, JSON.stringify(rows)]);
}

function toRow({ asset, patch }: PatchedAsset): object {
  const values = writtenBy(patch).flatMap(([, { columns }]) =>
    columns.map(({ column, value }): [string, unknown] => [column, value(asset)]),
  );
  return { id: asset.id, bits: apiSetBits(patch), updated_at: asset.updatedAt, ...Object.fromEntries(values) };
}

/** Returns the patch's fields as bits of asset.api_set; 0 for none. */
export function apiSetBits(patch: AssetPatch): number {
  return writtenBy(patch).reduce((bits, [, { bit }]) => bits | bit, 0);
}

const writtenBy = (patch: AssetPatch) => EACH_WRITTEN_FIELD.filter(([field]) => patch[field] !== undefined);

/** Ids were validated, so they need no quoting. */
const uuidArray = (ids: readonly string[]): string => `{${ids.join(',')}}`;
