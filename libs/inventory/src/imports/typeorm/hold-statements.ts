/** $1 workspace, $2 source. In the order of the ids, like every writer. */
export const LOCK_STAGED = `
  SELECT FROM asset
   WHERE workspace_id = $1 AND source = $2 AND external_id IN (SELECT external_id FROM import_staged)
   ORDER BY id FOR NO KEY UPDATE`;
export const LOCK_TAG_KEYS = `
  SELECT FROM tag_key
   WHERE workspace_id = $1 AND id IN (SELECT unnest(tag_key_ids) FROM import_staged)
   ORDER BY id FOR KEY SHARE`;
/** Tags and ids of their keys are in the same order. */
export const REFUSE_LOST_TAG_KEYS = `
  DELETE FROM import_staged AS s USING (
    SELECT place, array_agg(tags->(nth::int - 1)->>'key' ORDER BY nth) AS keys
      FROM import_staged, unnest(tag_key_ids) WITH ORDINALITY AS tag (key_id, nth)
     WHERE NOT EXISTS (SELECT FROM tag_key WHERE workspace_id = $1 AND id = key_id)
     GROUP BY place) AS lost
   WHERE lost.place = s.place
  RETURNING s.place, lost.keys, s.kept, s.serial_number`;
