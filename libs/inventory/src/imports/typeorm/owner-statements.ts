import { EMPLOYEE } from '../../assets/typeorm/asset.row';

/** In all statements: $1 workspace, $2 source, `s` the staged record that names its owner. */
export const employeeWhere = (named: string): string => `
  SELECT public_id FROM (SELECT public_id, sub_key, facet FROM asset WHERE workspace_id = $1 AND ${named} LIMIT 1) AS employee
   WHERE sub_key = ${EMPLOYEE} AND facet IS NOT NULL`;

/** The employee as the records before would leave it, else as it is. */
export const plannedEmployeeWhere = (planned: string, named: string): string => `
  SELECT public_id FROM (
    SELECT 1 AS place, public_id, sub_key, is_visible FROM import_planned WHERE ${planned}
    UNION ALL
    SELECT 2, public_id, sub_key, facet IS NOT NULL FROM asset WHERE workspace_id = $1 AND ${named}
    ORDER BY place LIMIT 1) AS employee
   WHERE sub_key = ${EMPLOYEE} AND is_visible`;

/** The visible employees of the workspace with the address of the record, whatever their letter case. */
export const EMPLOYEES_BY_EMAIL = `
  SELECT public_id FROM asset
   WHERE workspace_id = $1 AND sub_key = ${EMPLOYEE} AND facet IS NOT NULL AND char_length(email) <= 256
     AND lower(email) = lower(s.owner_email)`;

/** The same as the records before would leave them. */
export const PLANNED_EMPLOYEES_BY_EMAIL = `
  SELECT public_id FROM import_planned
   WHERE sub_key = ${EMPLOYEE} AND is_visible AND lower(email) = lower(s.owner_email)
  UNION ALL ${EMPLOYEES_BY_EMAIL}
     AND NOT EXISTS (SELECT FROM import_planned AS planned WHERE planned.public_id = asset.public_id)`;

export const onlyOneOf = (employees: string): string =>
  `SELECT CASE WHEN count(*) = 1 THEN (array_agg(public_id))[1] END FROM (${employees} LIMIT 2) AS employee`;

/** $1 workspace. Staged records whose address fits no employee, or several. */
const unownedBy = (employees: string): string => `
  SELECT place, fits FROM import_staged AS s
   CROSS JOIN LATERAL (SELECT count(*)::int AS fits FROM (${employees}) AS employee) AS found
   WHERE s.owner_email IS NOT NULL AND fits <> 1 ORDER BY place`;
export const UNOWNED_BY_EMAIL = unownedBy(EMPLOYEES_BY_EMAIL);
export const UNOWNED_BY_EMAIL_PLANNED = unownedBy(PLANNED_EMPLOYEES_BY_EMAIL);
