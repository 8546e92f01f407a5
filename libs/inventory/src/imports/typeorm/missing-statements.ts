import { UPDATED_AT } from './write-statements';

/** Remembers which assets the input names. $1 ids of records that are not staged. */
export const NAME_STAGED = `
  INSERT INTO import_named SELECT external_id FROM import_staged UNION ALL SELECT unnest($1::text[])`;
export const INDEX_NAMES = 'CREATE INDEX IF NOT EXISTS import_named_external_id ON import_named (external_id)';

/** One batch of visible assets of the source. $3 is the id to start after. */
const NEXT_PAGE = `
    SELECT id, external_id FROM asset
     WHERE workspace_id = $1 AND source = $2 AND facet IS NOT NULL AND id > $3 ORDER BY id LIMIT 5000`;
const IS_MISSING = `NOT EXISTS (SELECT FROM import_named WHERE import_named.external_id = page.external_id)`;

/** A source before an import, which has not begun its record. $1 workspace, $2 source. */
export interface SourceBefore {
  readonly visible: number;
  readonly isNew: boolean;
}
export const SOURCE_BEFORE = `
  SELECT (SELECT coalesce(sum(n), 0) FROM source_count WHERE workspace_id = $1 AND source = $2)::int AS visible,
         NOT EXISTS (SELECT FROM asset WHERE workspace_id = $1 AND source = $2)
         AND NOT EXISTS (SELECT FROM import_run WHERE workspace_id = $1 AND source = $2) AS "isNew"`;

/** Counts those of a batch that the input did not name. */
export const COUNT_MISSING = `
  WITH page AS (${NEXT_PAGE})
  SELECT max(id)::text AS last, (count(*) FILTER (WHERE ${IS_MISSING}))::int AS found FROM page`;

/** Hides them. $4 is the change set. */
export const HIDE_MISSING = `
  WITH page AS (${NEXT_PAGE}
  ), hidden AS (
    UPDATE asset SET visibility = 1, version = version + 1, change_id = $4::bigint, updated_at = ${UPDATED_AT}
     WHERE workspace_id = $1 AND id IN (
       SELECT asset.id FROM asset JOIN page USING (id)
        WHERE asset.workspace_id = $1 AND ${IS_MISSING}
        ORDER BY asset.id FOR NO KEY UPDATE OF asset)
    RETURNING 1
  )
  SELECT (SELECT max(id) FROM page)::text AS last, (SELECT count(*) FROM hidden)::int AS found`;
