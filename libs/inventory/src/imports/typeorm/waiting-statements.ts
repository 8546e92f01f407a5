import { EMPLOYEE } from '../../assets/typeorm/asset.row';
import { STAGED } from './import-rows';

export const COPY_DEFERRED_OUT = `COPY import_deferred (${STAGED}) TO STDOUT`;
export const COPY_DEFERRED_IN = `COPY import_deferred (${STAGED}) FROM STDIN`;

export const REFUSE_WAITING = `
  DELETE FROM import_matched WHERE waits
  RETURNING place, CASE WHEN owner_external_id IS NULL THEN 'ownerId is not a visible employee of the workspace.'
                        WHEN EXISTS (SELECT FROM import_unowned WHERE external_id = owner_external_id)
                          THEN 'owner is not brought in, because its own owner is not there either.'
                        ELSE 'owner is not a visible employee of this source.' END AS reason, kept`;

export const DEFER_WAITING = `
  WITH moved AS (DELETE FROM import_matched WHERE waits RETURNING ${STAGED})
  INSERT INTO import_deferred SELECT * FROM moved`;

export const NAME_UNOWNED = `
  INSERT INTO import_unowned SELECT external_id FROM import_deferred WHERE sub_key = ${EMPLOYEE} AND visibility = 0
  ON CONFLICT DO NOTHING`;

/** Turns the next deferred records into a batch. $1 is the place to start after. */
export const TAKE_DEFERRED = `
  WITH taken AS (
    DELETE FROM import_deferred
     WHERE place > $1 AND place <= (
       SELECT max(place) FROM (SELECT place FROM import_deferred WHERE place > $1 ORDER BY place LIMIT 5000) AS next)
    RETURNING ${STAGED}
  ), staged AS (INSERT INTO import_staged SELECT * FROM taken)
  SELECT max(place)::text AS last, count(*)::int AS taken FROM taken`;

/** Deferred records come from many batches, so an id may appear twice among them. */
export const REFUSE_SAME_IDS = `
  DELETE FROM import_staged AS s USING (
    SELECT place, row_number() OVER (PARTITION BY wanted_id ORDER BY place) AS nth
      FROM import_staged WHERE wanted_id IS NOT NULL) AS ids
   WHERE ids.place = s.place AND ids.nth > 1
  RETURNING s.place, 'The id belongs to another asset.' AS reason, s.kept`;
