import { NEW_CHANGE_SET_ID } from '#libs/platform/changes';
import { equalsText } from '#libs/platform/lists';
import { COMPUTER, EMPLOYEE } from '../../assets/typeorm/asset.row';
import { lastOfBatch } from './waiting-statements';
import { UPDATED_AT } from './write-statements';

/**
 * The computers among the waiting records that are new. One that names its public id counts, but is no asset of before.
 * $1 workspace, $2 source, $3 the place to start after.
 */
export const NEW_COMPUTERS = `
  SELECT place, CASE WHEN wanted_id IS NULL THEN external_id END AS external_id, serial_number FROM import_deferred AS s
   WHERE sub_key = ${COMPUTER} AND serial_number IS NOT NULL AND place > $3
     AND NOT EXISTS (SELECT FROM asset WHERE workspace_id = $1 AND source = $2 AND external_id = s.external_id)
   ORDER BY place LIMIT 5000`;
/** $1 their rows with the `serial` that identifies each, if any. */
export const KEEP_SERIALS = `
  INSERT INTO import_new_computer
  SELECT * FROM jsonb_populate_recordset(NULL::import_new_computer, $1) WHERE serial IS NOT NULL`;

/** Visible computers of the source. $1 workspace, $2 source. */
const HAS_SERIAL = (
  serial: string,
): string => `asset.workspace_id = $1 AND asset.source = $2 AND asset.facet IS NOT NULL
          AND asset.sub_key = ${COMPUTER} AND ${equalsText('asset.serial_number').condition(serial)}`;
/** A serial number of one new computer and of visible assets that the input does not name. */
const SAME_SERIAL = `
    FROM (SELECT serial, min(place) AS place, min(external_id) AS external_id FROM import_new_computer GROUP BY serial
           HAVING count(*) = 1 AND count(external_id) = 1) AS fresh
    JOIN asset ON ${HAS_SERIAL('fresh.serial')}
   WHERE NOT EXISTS (SELECT FROM import_named WHERE import_named.external_id = asset.external_id)`;
/** Only one such asset is rekeyed. */
export const FIND_REKEYED = `
  INSERT INTO import_rekeyed
  SELECT fresh.external_id, (array_agg(asset.external_id))[1], min(asset.id) ${SAME_SERIAL}
   GROUP BY fresh.external_id HAVING count(*) = 1`;
/** Forgets new computers that match no such asset. */
export const KEEP_LIKELY = `
  DELETE FROM import_new_computer AS computer
   WHERE NOT EXISTS (SELECT FROM (SELECT fresh.place ${SAME_SERIAL}) AS likely WHERE likely.place = computer.place)`;
/** Refuses the next of those left. $1 the reason. */
export const REFUSE_LIKELY = `
  WITH likely AS (
    DELETE FROM import_new_computer
     WHERE place <= (${lastOfBatch('import_new_computer LEFT JOIN import_deferred USING (place)')})
    RETURNING place
  )
  DELETE FROM import_deferred AS waiting USING likely WHERE waiting.place = likely.place
  RETURNING waiting.place, $1::text AS reason, kept`;
/** $3 serial numbers. */
export const NAME_SERIALS = `
  INSERT INTO import_named SELECT asset.external_id FROM unnest($3::text[]) AS serial JOIN asset ON ${HAS_SERIAL('serial')}`;

export const STAGE_REKEYED = `
  INSERT INTO import_staged SELECT waiting.* FROM import_deferred AS waiting JOIN import_rekeyed USING (external_id)`;
/** `refused` selects staged records by their places. $1 workspace, $2 source. */
export const forgetRekeyed = (refused: string): string => `
  DELETE FROM import_rekeyed AS rekeyed USING (${refused}) AS gone JOIN import_staged AS staged USING (place)
   WHERE rekeyed.external_id = staged.external_id`;
/** An asset that is rekeyed is not missing. */
export const NAME_REKEYED = 'INSERT INTO import_named SELECT old_external_id FROM import_rekeyed';
export const COUNT_REKEYED = 'SELECT count(*)::int AS rekeyed FROM import_rekeyed';

/** One batch, locked in the order of the ids. $1 workspace, $2 the id to start after, $3 the change set. */
export const REKEY = `
  WITH page AS (SELECT * FROM import_rekeyed WHERE asset_id > $2 ORDER BY asset_id LIMIT 500
  ), locked AS (
    SELECT id FROM asset WHERE workspace_id = $1 AND id IN (SELECT asset_id FROM page) ORDER BY id FOR NO KEY UPDATE
  ), rekeyed AS (
    UPDATE asset SET external_id = page.external_id, version = version + 1, change_id = $3::bigint, updated_at = ${UPDATED_AT}
      FROM page WHERE asset.workspace_id = $1 AND asset.id = page.asset_id AND asset.id IN (SELECT id FROM locked)
    RETURNING asset.public_id, page.old_external_id, page.external_id
  )
  SELECT (SELECT max(asset_id) FROM page)::text AS last,
         (SELECT coalesce(jsonb_agg(rekeyed), '[]') FROM rekeyed) AS rekeyed`;

/**
 * Gives one asset another externalId. $1 workspace, $2 source, $3 the old one, $4 the new one. A SELECT, because TypeORM
 * returns rows of an UPDATE with their number.
 */
export const REKEY_ONE = `
  WITH rekeyed AS (
    UPDATE asset SET external_id = $4, version = version + 1, change_id = ${NEW_CHANGE_SET_ID}, updated_at = ${UPDATED_AT}
     WHERE workspace_id = $1 AND source = $2 AND external_id = $3
    RETURNING public_id, sub_key = ${EMPLOYEE} AS is_employee
  )
  SELECT * FROM rekeyed`;
