import type { WorkspaceId } from '#libs/kernel';
import { NEW_CHANGE_SET_ID, originCode } from '#libs/platform/changes';
import { escapeLiteral } from 'pg';
import { STAGED, STAGING_COLUMNS } from './import-rows';
import { LOOKUPS, OWNER_WAITS, PLANNED_LOOKUPS, onlyOneOf } from './owner-statements';
import { COMPUTER, EMPLOYEE, LAST_CLOUD, WRITTEN_FIELDS } from '../../assets/typeorm/asset.row';
import { postureOf } from '../../assets/typeorm/computer.row';

/** Columns of asset that a record sets directly. */
const PLAIN_COLUMNS = [
  'sub_key',
  'visibility',
  'name',
  'last_checked_at',
  'account_id',
  'region',
  'serial_number',
  'operating_system',
  'os_version',
  'email',
  'contains_patient_data',
  'contains_user_data',
  'user_data_info',
] as const;

/** An imported value, unless a client has set the field. */
const keptOr = ({ bit }: { readonly bit: number }, kept: string, imported: string): string =>
  `CASE WHEN asset.api_set & ${bit} <> 0 THEN ${kept} ELSE ${imported} END`;

/** Imported platform tags and customer tags set through the API, sorted by the code points of the key. */
const MERGED_TAGS = `COALESCE((
  SELECT jsonb_agg(tag ORDER BY tag->>'key' COLLATE "C") FROM (
    SELECT tag FROM jsonb_array_elements(asset.tags) AS kept (tag) WHERE NOT (tag->>'readOnly')::boolean
    UNION ALL SELECT tag FROM jsonb_array_elements(m.tags) AS imported (tag) WHERE (tag->>'readOnly')::boolean
  ) AS both_kinds), '[]')`;

const NAMES_OWNER = 'COALESCE(m.owner_external_id, m.owner_public_id::text, m.owner_email) IS NOT NULL';

/** New values of an existing asset: column → expression over `asset` and `m`, the matched record. */
const BECOMES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(PLAIN_COLUMNS.map((column) => [column, `m.${column}`])),
  classification: keptOr(WRITTEN_FIELDS.classification, 'asset.classification', 'm.classification'),
  description: keptOr(WRITTEN_FIELDS.description, 'asset.description', 'm.description'),
  owner_id: keptOr(
    WRITTEN_FIELDS.ownerId,
    'asset.owner_id',
    `CASE WHEN m.owner_id IS NULL AND ${NAMES_OWNER} THEN asset.owner_id ELSE m.owner_id END`,
  ),
  owner_source: keptOr(
    WRITTEN_FIELDS.ownerId,
    'asset.owner_source',
    `CASE WHEN m.owner_id IS NULL THEN CASE WHEN ${NAMES_OWNER} THEN asset.owner_source END
          WHEN asset.owner_id = m.owner_id THEN asset.owner_source ELSE 3 END`,
  ),
  created_at: 'COALESCE(m.created_at, asset.created_at)',
  tags: keptOr(WRITTEN_FIELDS.tags, MERGED_TAGS, 'm.tags'),
};
const columns = Object.keys(BECOMES);
const changesOf = (becomes: typeof BECOMES, of = columns): string =>
  `ROW(${of.map((column) => `asset.${column}`).join(', ')}) IS DISTINCT FROM ROW(${of.map((column) => becomes[column]).join(', ')})`;
/** A check-in is no change that a feed tells of. */
const WITHOUT_CHECK_IN = columns.filter((column) => column !== 'last_checked_at');

/** Counts the work of the matched batch, so that steps without work can be skipped. */
const COUNTS = `
  SELECT count(*) FILTER (WHERE refusal IS NOT NULL)::int AS refused, count(*) FILTER (WHERE waits)::int AS waiting,
         count(*) FILTER (WHERE is_new)::int AS created,
         count(*) FILTER (WHERE changed)::int AS changed, count(*) FILTER (WHERE retagged)::int AS retagged,
         count(*) FILTER (WHERE is_new AND tag_key_ids <> '{}')::int AS tagged,
         count(*) FILTER (WHERE checked)::int AS checked, count(*) FILTER (WHERE changed OR checked)::int AS to_lock`;

const COMPUTER_COLUMNS = [
  'managed',
  'agent_version',
  'antivirus_installed',
  'disk_encryption_enabled',
  'password_manager_installed',
  'screen_lock_enabled',
];
const computerOf = (row: string): string => COMPUTER_COLUMNS.map((column) => `${row}.${column}`).join(', ');

/**
 * Staged: a batch as it was sent. Matched: its records that differ from the inventory. Deferred: records that wait for
 * an owner. Waiting employee: those among them who own others. Planned: what a dry run would have written that later records
 * refer to. Rekeyed: new computers that are an asset of before.
 */
export const CREATE_TABLES = `
  CREATE TEMP TABLE IF NOT EXISTS import_staged (${STAGING_COLUMNS});
  CREATE TEMP TABLE IF NOT EXISTS import_matched (LIKE import_staged, asset_id bigint, is_new boolean,
    owner_id uuid, refusal text, waits boolean, changed boolean, retagged boolean, checked boolean);
  CREATE TEMP TABLE IF NOT EXISTS import_deferred (LIKE import_staged);
  CREATE TEMP TABLE IF NOT EXISTS import_named (external_id text);
  CREATE TEMP TABLE IF NOT EXISTS import_waiting_employee (place bigint, external_id text PRIMARY KEY, public_id uuid, email text);
  CREATE INDEX IF NOT EXISTS import_waiting_employee_public_id ON import_waiting_employee (public_id);
  CREATE INDEX IF NOT EXISTS import_waiting_employee_email ON import_waiting_employee (lower(email));
  CREATE TEMP TABLE IF NOT EXISTS import_planned (
    external_id text PRIMARY KEY, public_id uuid UNIQUE, sub_key smallint, is_visible boolean, email text);
  CREATE INDEX IF NOT EXISTS import_planned_email ON import_planned (lower(email));
  CREATE TEMP TABLE IF NOT EXISTS import_new_computer (serial text, external_id text);
  CREATE TEMP TABLE IF NOT EXISTS import_rekeyed (external_id text PRIMARY KEY, old_external_id text, asset_id bigint UNIQUE);
  TRUNCATE import_staged, import_matched, import_deferred, import_named, import_waiting_employee, import_planned,
           import_new_computer, import_rekeyed;`;

export const beginIn = (workspaceId: WorkspaceId): string =>
  `BEGIN; SET LOCAL app.workspace_id = ${escapeLiteral(workspaceId)}`;

/** Opens a batch in its workspace and empties the tables of the previous one. */
export const beginBatch = (workspaceId: WorkspaceId): string =>
  `${beginIn(workspaceId)}; TRUNCATE import_staged, import_matched`;

/** The change set of the batch. */
export const DRAW_CHANGE_SET_ID = `SELECT ${NEW_CHANGE_SET_ID} AS id`;
/** In one query: the ticket holds a lock on which other writers wait. */
export const commitChanges = (workspaceId: WorkspaceId, changeSetId: string): string => `
  SELECT take_change_ticket(${escapeLiteral(workspaceId)}::uuid, ${escapeLiteral(changeSetId)}::bigint,
                            ${originCode('IMPORT')}::smallint, NULL, NULL);
  COMMIT`;

export const COPY_STAGED = `COPY import_staged (${STAGED}) FROM STDIN`;

const IS_NEW = 'asset.id IS NULL';
/** It may be an asset of before under another externalId, which only the whole input tells. */
const MAY_BE_REKEYED = `${IS_NEW} AND s.sub_key = ${COMPUTER} AND s.serial_number IS NOT NULL`;
const ofStaged = (expression: string): string => expression.replace(/\bm\.(?!owner_id)/g, 's.');
const WAITS = `m.owner_id IS NULL AND ${ofStaged(NAMES_OWNER)}`;
const WAITS_FOR_WAITING = `m.owner_id IS NULL AND ${OWNER_WAITS}`;
const CHANGED = `asset.id IS NOT NULL AND ${ofStaged(changesOf(BECOMES))}`;
const CHECKED = `s.sub_key = ${COMPUTER} AND asset.id IS NOT NULL AND ROW(c.asset_id, ${computerOf('c')})
  IS DISTINCT FROM ROW(asset.id, ${computerOf('s')})`;
const refusalOf = (isTaken: string, { ownerByExternalId }: typeof LOOKUPS): string => `CASE
  WHEN (asset.sub_key <= ${LAST_CLOUD}) <> (s.sub_key <= ${LAST_CLOUD}) OR asset.sub_key > ${LAST_CLOUD} AND asset.sub_key <> s.sub_key
    THEN 'The asset with this externalId is of another category.'
  WHEN asset.public_id <> s.wanted_id THEN 'The asset with this externalId has another id.'
  WHEN asset.id IS NULL AND s.wanted_id IS NOT NULL AND (${isTaken})
    THEN 'The id belongs to another asset.'
  WHEN s.owner_public_id IS NOT NULL AND (${ownerByExternalId}) <> s.owner_public_id
    THEN 'owner and ownerId name different employees; give one.'
END`;

const IS_TAKEN = `
    (SELECT true FROM asset AS other WHERE other.workspace_id = $1 AND other.public_id = s.wanted_id LIMIT 1)`;

/** Skips records that equal the inventory; in most imports these are nearly all. */
const matchWith = (
  { ownerByExternalId, ownerById, ownersByEmail }: typeof LOOKUPS,
  externalId: string,
  refusal: string,
  waits: string,
): string => `
  -- $1 workspace, $2 source.
  WITH matched AS (
    INSERT INTO import_matched
    SELECT s.*, COALESCE(asset.id, nextval('asset_id_seq')), ${IS_NEW}, m.owner_id, ${refusal}, ${waits}, ${CHANGED},
           asset.id IS NOT NULL AND asset.tags IS DISTINCT FROM ${ofStaged(BECOMES['tags'] ?? '')},
           ${CHECKED}
      FROM import_staged AS s
      -- LIMIT 1 on a unique key only affects the plan: one index lookup per record, whatever the statistics say.
      LEFT JOIN LATERAL (
        SELECT * FROM asset WHERE workspace_id = $1 AND source = $2 AND external_id = ${externalId} LIMIT 1
      ) AS asset ON true
      -- OFFSET 0 as well: one lookup of the owner, however often it is used.
      CROSS JOIN LATERAL (
        SELECT CASE
                 WHEN s.owner_public_id IS NOT NULL THEN (${ownerById})
                 WHEN s.owner_external_id IS NOT NULL THEN (${ownerByExternalId})
                 WHEN s.owner_email IS NOT NULL THEN (${onlyOneOf(ownersByEmail)})
               END AS owner_id
        OFFSET 0
      ) AS m
      LEFT JOIN LATERAL (
        SELECT * FROM computer WHERE s.sub_key = ${COMPUTER} AND workspace_id = $1 AND asset_id = asset.id LIMIT 1
      ) AS c ON true
     WHERE ${IS_NEW} OR ${waits} OR ${CHANGED} OR ${CHECKED} OR (${refusal}) IS NOT NULL
     ORDER BY s.place
    RETURNING refusal, waits, is_new, changed, retagged, checked, tag_key_ids
  ) ${COUNTS} FROM matched`;

const REFUSAL = refusalOf(IS_TAKEN, LOOKUPS);
const REFUSAL_PLANNED = refusalOf(
  `${IS_TAKEN} OR (SELECT true FROM import_planned WHERE public_id = s.wanted_id LIMIT 1)`,
  PLANNED_LOOKUPS,
);
/** In a dry run, a computer that would be rekeyed still has its old id. */
const PLANNED_ID = `COALESCE((SELECT old_external_id FROM import_rekeyed WHERE external_id = s.external_id), s.external_id)`;
/** `hold`: new computers wait, too, as they may be rekeyed. `release`: records wait only for owners who wait themselves. */
const eachStep = (match: (waits: string) => string) => ({
  hold: match(`(${WAITS} OR ${MAY_BE_REKEYED})`),
  wait: match(WAITS),
  release: match(WAITS_FOR_WAITING),
});
export const MATCH = eachStep((waits) => matchWith(LOOKUPS, 's.external_id', REFUSAL, waits));
export const MATCH_PLANNED = eachStep((waits) => matchWith(PLANNED_LOOKUPS, PLANNED_ID, REFUSAL_PLANNED, waits));

/** Counts again after refused and waiting records were removed. */
export const COUNT_MATCHED = `${COUNTS} FROM import_matched`;

export const REFUSE = `DELETE FROM import_matched WHERE refusal IS NOT NULL RETURNING place, refusal AS reason, kept`;

/** Remembers employees and ids of a dry run, and counts the assets that would be updated, as the statements below do. */
export const PLAN = `
  WITH planned AS (
    INSERT INTO import_planned
    SELECT m.external_id, COALESCE(asset.public_id, m.wanted_id, gen_random_uuid()), m.sub_key, m.visibility = 0, m.email
      FROM import_matched AS m
      LEFT JOIN LATERAL (
        SELECT public_id FROM asset WHERE NOT m.is_new AND workspace_id = $1 AND id = m.asset_id LIMIT 1) AS asset ON true
     WHERE (m.is_new OR m.changed) AND m.sub_key = ${EMPLOYEE} OR m.is_new AND m.wanted_id IS NOT NULL)
  SELECT count(*)::int AS updated FROM import_matched AS m
   WHERE changed OR checked AND EXISTS (SELECT FROM computer WHERE workspace_id = $1 AND asset_id = m.asset_id)`;

/** Locks rows in the order of their ids, then counters in theirs, so that writers cannot deadlock. */
export const LOCK_CHANGED = `
  SELECT asset.id FROM asset
   WHERE asset.workspace_id = $1 AND asset.id IN (SELECT asset_id FROM import_matched WHERE changed OR checked)
   ORDER BY asset.id FOR NO KEY UPDATE`;
export const LOCK_COUNTERS = `SELECT FROM facet_count WHERE workspace_id = $1 ORDER BY sub_key, facet FOR NO KEY UPDATE`;

/** Unchanged tags keep their current value: a key may have been deleted since, and must not return. */
const BECOMES_NOW = { ...BECOMES, tags: `CASE WHEN m.retagged THEN ${BECOMES['tags']} ELSE asset.tags END` };
const IS_CHANGE = changesOf(BECOMES_NOW, WITHOUT_CHECK_IN);
export const UPDATED_AT = 'GREATEST(asset.updated_at, now())';
/** $2 the change set. */
export const UPDATE_CHANGED = `
  UPDATE asset SET ${Object.entries(BECOMES_NOW)
    .map(([column, expression]) => `${column} = ${expression}`)
    .join(', ')}, version = asset.version + 1,
         change_id = CASE WHEN ${IS_CHANGE} THEN $2::bigint ELSE asset.change_id END,
         updated_at = CASE WHEN ${IS_CHANGE} THEN ${UPDATED_AT} ELSE asset.updated_at END
    FROM import_matched AS m
   WHERE asset.workspace_id = $1 AND asset.id = m.asset_id AND m.changed AND ${changesOf(BECOMES_NOW)}
  RETURNING asset.id, asset.change_id = $2::bigint AS is_change`;

/** $3 is the change set. */
export const INSERT_NEW = `
  WITH posture AS (
    INSERT INTO computer (workspace_id, asset_id, ${COMPUTER_COLUMNS.join(', ')})
    SELECT $1::uuid, m.asset_id, ${computerOf('m')}
      FROM import_matched AS m WHERE m.is_new AND m.sub_key = ${COMPUTER}
  )
  INSERT INTO asset (workspace_id, id, public_id, source, external_id, change_id, posture, ${columns.join(', ')}) OVERRIDING SYSTEM VALUE
  SELECT $1::uuid, m.asset_id, COALESCE(m.wanted_id, gen_random_uuid()), $2, m.external_id, $3::bigint,
         CASE WHEN m.sub_key = ${COMPUTER} THEN ${postureOf('m')} END, ${columns
           .map((column) => {
             if (column === 'owner_source') return 'CASE WHEN m.owner_id IS NULL THEN NULL ELSE 3 END';
             return column === 'created_at' ? 'COALESCE(m.created_at, now())' : `m.${column}`;
           })
           .join(', ')}
    FROM import_matched AS m WHERE m.is_new`;

/**
 * Tells the feed of existing computers whose posture changes, before it does: the trigger that keeps the former asset
 * reads the former agent version. $2 is the change set.
 */
export const TELL_COMPUTERS = `
  UPDATE asset SET posture = ${postureOf('m')}, change_id = $2::bigint, updated_at = ${UPDATED_AT},
         version = CASE WHEN asset.change_id = $2::bigint THEN asset.version ELSE asset.version + 1 END
    FROM import_matched AS m
    LEFT JOIN LATERAL (SELECT * FROM computer WHERE workspace_id = $1 AND asset_id = m.asset_id LIMIT 1) AS c ON true
   WHERE m.checked AND asset.workspace_id = $1 AND asset.id = m.asset_id
     AND ROW(c.asset_id, ${computerOf('c')})
         IS DISTINCT FROM ROW(m.asset_id, ${computerOf('m')})`;

/** Writes the posture of existing computers. The first one of a computer does not count as an update of the record. */
export const UPSERT_COMPUTERS = `
  INSERT INTO computer AS c (workspace_id, asset_id, ${COMPUTER_COLUMNS.join(', ')})
  SELECT $1::uuid, m.asset_id, ${computerOf('m')}
    FROM import_matched AS m WHERE m.checked
      ON CONFLICT (workspace_id, asset_id) DO UPDATE SET ${COMPUTER_COLUMNS.map((name) => `${name} = excluded.${name}`).join(', ')}
   WHERE ROW(${computerOf('c')})
         IS DISTINCT FROM ROW(${computerOf('excluded')})
  RETURNING asset_id, xmax <> 0 AS was_there`;

/** Updates tag rows of locked assets. Leaves customer tags alone that were set through the API. */
export const UNTAG_CHANGED = `
  DELETE FROM asset_tag USING import_matched AS m, asset, tag_key
   WHERE m.retagged AND asset_tag.workspace_id = $1 AND asset_tag.asset_id = m.asset_id
     AND asset.workspace_id = $1 AND asset.id = m.asset_id
     AND tag_key.workspace_id = $1 AND tag_key.id = asset_tag.tag_key_id
     AND (tag_key.platform OR asset.api_set & ${WRITTEN_FIELDS.tags.bit} = 0)`;
export const TAG = `
  INSERT INTO asset_tag (workspace_id, asset_id, tag_key_id, value)
  SELECT $1::uuid, tag.asset_id, tag.key_id, tag.value
    FROM (SELECT asset_id, is_new, unnest(tag_key_ids) AS key_id, unnest(tag_values) AS value
            FROM import_matched WHERE (is_new OR retagged) AND tag_key_ids <> '{}') AS tag
   WHERE tag.is_new OR NOT EXISTS (
     SELECT FROM asset JOIN tag_key ON tag_key.workspace_id = $1 AND tag_key.id = tag.key_id
      WHERE asset.workspace_id = $1 AND asset.id = tag.asset_id
        AND asset.api_set & ${WRITTEN_FIELDS.tags.bit} <> 0 AND NOT tag_key.platform)`;
