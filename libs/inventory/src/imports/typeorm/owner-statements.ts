import { isIndexed } from '#libs/platform/lists';
import { EMPLOYEE, emailIs, lowerCase } from '../../assets/typeorm/asset.row';

/** In all statements: $1 workspace, $2 source, `s` the staged record that names its owner. */
const employeeWhere = (named: string): string => `
  SELECT public_id FROM (SELECT public_id, sub_key, facet FROM asset WHERE workspace_id = $1 AND ${named} LIMIT 1) AS employee
   WHERE sub_key = ${EMPLOYEE} AND facet IS NOT NULL`;

/** The employee as the records before would leave it, else as it is. */
const plannedEmployeeWhere = (named: string, ofAsset = ''): string => `
  SELECT public_id FROM (
    SELECT 1 AS place, public_id, sub_key, is_visible FROM import_planned WHERE ${named}
    UNION ALL
    SELECT 2, public_id, sub_key, facet IS NOT NULL FROM asset WHERE workspace_id = $1 AND ${ofAsset} ${named}
    ORDER BY place LIMIT 1) AS employee
   WHERE sub_key = ${EMPLOYEE} AND is_visible`;

/** The visible employees of the workspace with the address of the record, whatever their letter case. */
const EMPLOYEES_BY_EMAIL = `
  SELECT public_id FROM asset
   WHERE workspace_id = $1 AND facet IS NOT NULL AND ${emailIs('s.owner_email')}`;

/** The same as the records before would leave them. */
const PLANNED_EMPLOYEES_BY_EMAIL = `
  SELECT public_id FROM import_planned
   WHERE sub_key = ${EMPLOYEE} AND is_visible AND ${lowerCase('email')} = ${lowerCase('s.owner_email')} AND ${isIndexed('email')}
  UNION ALL ${EMPLOYEES_BY_EMAIL}
     AND NOT EXISTS (SELECT FROM import_planned AS planned WHERE planned.public_id = asset.public_id)`;

export const onlyOneOf = (employees: string): string =>
  `SELECT CASE WHEN count(*) = 1 THEN (array_agg(public_id))[1] END FROM (${employees} LIMIT 2) AS employee`;

/** Tells whether the owner of the staged record may still come. */
export const OWNER_WAITS = `(
  EXISTS (SELECT FROM import_waiting_employee AS waiting WHERE waiting.public_id = s.owner_public_id)
  OR s.owner_public_id IS NULL AND EXISTS (
    SELECT FROM import_waiting_employee AS waiting WHERE waiting.external_id = s.owner_external_id)
  OR s.owner_public_id IS NULL AND s.owner_external_id IS NULL AND EXISTS (
    SELECT FROM import_waiting_employee AS waiting
     WHERE ${lowerCase('waiting.email')} = ${lowerCase('s.owner_email')} AND ${isIndexed('waiting.email')}))`;

interface Lookups {
  readonly ownerByExternalId: string;
  readonly ownerById: string;
  readonly ownersByEmail: string;
}

export const LOOKUPS: Lookups = {
  ownerByExternalId: employeeWhere('source = $2 AND external_id = s.owner_external_id'),
  ownerById: employeeWhere('public_id = s.owner_public_id'),
  ownersByEmail: EMPLOYEES_BY_EMAIL,
};
/** The same for a dry run, which writes nothing that it could find. */
export const PLANNED_LOOKUPS: Lookups = {
  ownerByExternalId: plannedEmployeeWhere('external_id = s.owner_external_id', 'source = $2 AND'),
  ownerById: plannedEmployeeWhere('public_id = s.owner_public_id'),
  ownersByEmail: PLANNED_EMPLOYEES_BY_EMAIL,
};

/** Tells whether `owner` and `ownerId` of the staged record name different employees. */
export const ownersDiffer = ({ ownerByExternalId }: Lookups): string =>
  `s.owner_public_id IS NOT NULL AND (${ownerByExternalId}) <> s.owner_public_id`;

/** Staged records whose owner is nobody, or several, and will not come. */
const unownedBy = ({ ownerByExternalId, ownerById, ownersByEmail }: Lookups): string => `
  SELECT place, CASE WHEN owner_public_id IS NOT NULL THEN 'ownerId is not a visible employee of the workspace.'
                     WHEN owner_external_id IS NOT NULL THEN 'owner is not a visible employee of this source.'
                     WHEN fits = 0 THEN 'ownerEmail is of no visible employee of the workspace.'
                     ELSE format('ownerEmail is of %s visible employees of the workspace.', fits) END AS reason
    FROM import_staged AS s
   CROSS JOIN LATERAL (
     SELECT CASE WHEN owner_public_id IS NOT NULL THEN (SELECT count(*) FROM (${ownerById}) AS employee)
                 WHEN owner_external_id IS NOT NULL THEN (SELECT count(*) FROM (${ownerByExternalId}) AS employee)
                 ELSE (SELECT count(*) FROM (${ownersByEmail}) AS employee) END AS fits
      -- Each look-up once, however often its result is used.
      OFFSET 0) AS found
   WHERE COALESCE(owner_external_id, owner_public_id::text, owner_email) IS NOT NULL AND fits <> 1 AND NOT ${OWNER_WAITS}
   ORDER BY place`;
const statementsBy = (lookups: Lookups) => ({
  unowned: unownedBy(lookups),
  refuseUnowned: `
  WITH unowned AS (${unownedBy(lookups)})
  DELETE FROM import_staged AS s USING unowned WHERE s.place = unowned.place RETURNING s.place, unowned.reason, s.kept, s.serial_number`,
  /** Staged records that will be refused, because they name two owners. */
  withTwoOwners: `SELECT place FROM import_staged AS s WHERE ${ownersDiffer(lookups)}`,
});
export const OWNERS = { real: statementsBy(LOOKUPS), planned: statementsBy(PLANNED_LOOKUPS) };
