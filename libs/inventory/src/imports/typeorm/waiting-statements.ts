import { EMPLOYEE, lowerCase } from '../../assets/typeorm/asset.row';
import { STAGED } from './import-rows';

export const COPY_DEFERRED_OUT = `COPY import_deferred (${STAGED}) TO STDOUT`;
export const COPY_DEFERRED_IN = `COPY import_deferred (${STAGED}) FROM STDIN`;

/**
 * The last place of the next batch of these rows: up to 5,000, whose lines a process has memory for where they are refused.
 */
export const lastOfBatch = (rows: string): string => `
  SELECT max(place) FROM (
    SELECT place, sum(octet_length(kept)) OVER (ORDER BY place) - octet_length(kept) AS bytes_before
      FROM (SELECT place, kept FROM ${rows} ORDER BY place LIMIT 5000) AS next) AS sized
   WHERE coalesce(bytes_before, 0) < 16000000`;

/** Refuses the next batch of these, and none when all are gone. $1 places. */
export const REFUSE_WAITING = `
  DELETE FROM import_deferred
   WHERE place = ANY ($1::bigint[]) AND place <= (${lastOfBatch('import_deferred WHERE place = ANY ($1::bigint[])')})
  RETURNING place, 'New employees who own themselves or each other cannot be brought in; bring them in without owner first.'
            AS reason, kept`;

export const DEFER_WAITING = `
  WITH moved AS (DELETE FROM import_matched WHERE waits RETURNING ${STAGED}),
       deferred AS (INSERT INTO import_deferred SELECT * FROM moved)
  SELECT place FROM moved`;

export const NAME_WAITING_EMPLOYEES = `
  TRUNCATE import_waiting_employee;
  INSERT INTO import_waiting_employee SELECT place, external_id, wanted_id, email
    FROM import_deferred WHERE sub_key = ${EMPLOYEE} AND visibility = 0`;

/** $1 places of records whose owner then is nobody, so that they are imported with a warning. */
export const FORGET_ADDRESSES = `UPDATE import_deferred SET owner_email = '' WHERE place = ANY ($1::bigint[])`;

/** Lets employees wait for nobody: no employee has an empty id. */
export const FORGET_OWNERS = `
  UPDATE import_deferred SET owner_public_id = NULL, owner_external_id = '' WHERE sub_key = ${EMPLOYEE}`;

/** Outside of transactions. */
export const FREE_DEFERRED = 'VACUUM import_deferred';

/** A process has memory for so many. */
export const MOST_WAITING_EMPLOYEES = 50_000;

/**
 * Employees who wait for one another, by their places, and one row more than a process has memory for. Of several with the
 * address it names the last one. A join by address would return all pairs of those who share it.
 */
export const WAITING_FOR_EMPLOYEES = `
  SELECT one.place, owner.place AS owner, false AS by_email
    FROM import_deferred AS one JOIN import_waiting_employee AS owner ON owner.public_id = one.owner_public_id
   WHERE one.sub_key = ${EMPLOYEE} AND one.visibility = 0
  UNION ALL
  SELECT one.place, owner.place, false
    FROM import_deferred AS one JOIN import_waiting_employee AS owner ON owner.external_id = one.owner_external_id
   WHERE one.sub_key = ${EMPLOYEE} AND one.visibility = 0 AND one.owner_public_id IS NULL
  UNION ALL
  SELECT place, owner, true
    FROM (
      SELECT place, max(employee) OVER (PARTITION BY address) AS owner
        FROM (
          SELECT place, NULL AS employee, ${lowerCase('owner_email')} AS address FROM import_deferred
           WHERE sub_key = ${EMPLOYEE} AND visibility = 0 AND owner_public_id IS NULL AND owner_external_id IS NULL
          UNION ALL
          SELECT NULL, place, ${lowerCase('email')} FROM import_waiting_employee) AS named
       WHERE address IS NOT NULL) AS one
   WHERE place IS NOT NULL AND owner IS NOT NULL
   LIMIT ${MOST_WAITING_EMPLOYEES + 1}`;

const takeDeferred = (which: string): string => `
  WITH taken AS (
    DELETE FROM import_deferred
     WHERE ${which} AND place <= (${lastOfBatch(`import_deferred WHERE ${which}`)})
    RETURNING ${STAGED}
  ), staged AS (INSERT INTO import_staged SELECT * FROM taken)
  SELECT max(place)::text AS last, count(*)::int AS taken FROM taken`;
/** Turns the next deferred records into a batch. $1 is the place to start after. */
export const TAKE_DEFERRED = {
  all: takeDeferred('place > $1'),
  employees: takeDeferred(`place > $1 AND sub_key = ${EMPLOYEE}`),
};

/** Deferred records come from many batches, so an id may appear twice among them. */
export const REFUSE_SAME_IDS = `
  DELETE FROM import_staged AS s USING (
    SELECT place, row_number() OVER (PARTITION BY wanted_id ORDER BY place) AS nth
      FROM import_staged WHERE wanted_id IS NOT NULL) AS ids
   WHERE ids.place = s.place AND ids.nth > 1
  RETURNING s.place, 'The id belongs to another asset.' AS reason, s.kept, s.serial_number`;
