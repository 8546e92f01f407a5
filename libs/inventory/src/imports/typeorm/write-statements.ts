import { COMPUTER, EMPLOYEE, WRITTEN_FIELDS } from '../../assets/typeorm/asset.row';
import { postureOf } from '../../assets/typeorm/computer.row';
import { MERGED_COLUMNS, BECOMES, COMPUTER_COLUMNS, changesOf, computerOf } from './merged-columns';

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

/** A check-in is no change that a feed tells of. A posture that changes with it is one, and ends the state before both. */
const WITHOUT_CHECK_IN = MERGED_COLUMNS.filter((column) => column !== 'last_checked_at');
/** Unchanged tags keep their current value: a key may have been deleted since, and must not return. */
const BECOMES_NOW = { ...BECOMES, tags: `CASE WHEN m.retagged THEN ${BECOMES['tags']} ELSE asset.tags END` };
/**
 * An asset that stays hidden, or stays deleted, keeps the change set of its removal, so that feeds tell that once. From
 * hidden to deleted is a removal of its own. Another sub key changes its place in the set, which a reader may have passed.
 * So the new place is in a set of its own.
 */
const IS_SEEN = '(asset.visibility = 0 OR asset.visibility <> m.visibility OR asset.sub_key <> m.sub_key)';
const IS_CHANGE = `(${IS_SEEN} AND (m.checked OR ${changesOf(BECOMES_NOW, WITHOUT_CHECK_IN)}))`;
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
  INSERT INTO asset (workspace_id, id, public_id, source, external_id, change_id, posture, ${MERGED_COLUMNS.join(', ')}) OVERRIDING SYSTEM VALUE
  SELECT $1::uuid, m.asset_id, COALESCE(m.wanted_id, gen_random_uuid()), $2, m.external_id, $3::bigint,
         CASE WHEN m.sub_key = ${COMPUTER} THEN ${postureOf('m')} END, ${MERGED_COLUMNS.map((column) => {
           if (column === 'owner_source') return 'CASE WHEN m.owner_id IS NULL THEN NULL ELSE 3 END';
           return column === 'created_at' ? 'COALESCE(m.created_at, now())' : `m.${column}`;
         }).join(', ')}
    FROM import_matched AS m WHERE m.is_new`;

/**
 * Tells the feed of existing computers whose posture changes, before it does: the trigger that keeps the former asset
 * reads the former agent version. An asset that the update before hid has the change set already. $2 is the change set.
 */
export const TELL_COMPUTERS = `
  UPDATE asset SET posture = ${postureOf('m')},
         change_id = CASE WHEN asset.visibility = 0 THEN $2::bigint ELSE asset.change_id END,
         updated_at = CASE WHEN asset.visibility = 0 THEN ${UPDATED_AT} ELSE asset.updated_at END,
         version = CASE WHEN asset.change_id = $2::bigint THEN asset.version ELSE asset.version + 1 END
    FROM import_matched AS m
    LEFT JOIN LATERAL (SELECT * FROM computer WHERE workspace_id = $1 AND asset_id = m.asset_id LIMIT 1) AS c ON true
   WHERE m.checked AND asset.workspace_id = $1 AND asset.id = m.asset_id
     AND ROW(c.asset_id, ${computerOf('c')})
         IS DISTINCT FROM ROW(m.asset_id, ${computerOf('m')})
  RETURNING asset.change_id = $2::bigint AS is_change`;

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
