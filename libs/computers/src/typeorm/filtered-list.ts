import type { BoundStatement } from '#libs/platform/database';
import type { ComputerFilter } from '../domain/computer-filter';
import { CHECKS, CHECK_STATES, type Check, type CheckState, POSTURES } from '../domain/posture';
import { COMPUTER_COLUMNS } from './visible-computer.row';
import { SPAN_MS, nearestSpan, postureCodesOf, sumOf } from './computer-counts';

/** The filter whose rows a list reads. The others only look at these rows. */
export type Driver = 'none' | 'identifiers' | 'owner' | 'source' | 'postures' | 'checks';

/** Registers a value and returns its place in the statement. */
type AddValue = (text: string, type: string) => string;

/**
 * Makes the statement of a list with filters. Each branch of a page reads an index in the order of the id, so a page reads
 * few rows, however many match (benchmark `filters`). Values: $1 workspace, $2 position to start after, $3 rows wanted,
 * then those of the filters. `areFewChecks`: few computers were last checked before the wanted time.
 */
export function filteredList(
  filter: ComputerFilter,
  driver: Driver,
  areFewChecks: boolean,
  position: readonly string[],
): BoundStatement {
  const values = [...position];
  const addValue: AddValue = (text, type) => `$${values.push(text)}::${type}`;
  const conditions = conditionsOf(filter, addValue);
  const names = Object.keys(conditions) as Driver[];
  const driving = conditions[driver] ?? 'true';
  // IS TRUE keeps a condition out of an index condition: the index of the driver is wanted.
  const others = names.filter((name) => name !== driver).map((name) => `AND (${conditions[name]}) IS TRUE`);
  const branches = driver === 'postures' ? branchesOfPostures(filter) : [];
  const list = { filter, driver, driving, others: others.join(' '), branches, areFewChecks };
  const letters = Object.entries(LETTERS).map(([name, letter]) => (name in filter ? letter : ''));
  const shape = [...branches.map(({ name }) => name), driver === 'checks' && areFewChecks ? 'few' : ''];
  return {
    name: `computer_filter_2_${driver}_${letters.join('')}_${shape.join('')}`,
    text: `
      SELECT ${COMPUTER_COLUMNS.join(', ')}, total.n
        FROM (SELECT ${totalOf(list, addValue)} AS n) AS total
        LEFT JOIN LATERAL (
          SELECT computer.* FROM (${pageOf(list)}) AS found
           -- LIMIT 1 on a unique key only affects the plan: one lookup for each row of the page.
           CROSS JOIN LATERAL (
             SELECT * FROM visible_computer WHERE workspace_id = $1 AND id = found.id LIMIT 1) AS computer
        ) AS page ON true
       ORDER BY id`,
    values,
  };
}

/** Filters in the name of a statement, of which Postgres keeps 63 letters. */
const LETTERS: Readonly<Record<keyof ComputerFilter, string>> = {
  isMonitored: 'm',
  ownerId: 'o',
  serialNumber: 'n',
  externalId: 'e',
  source: 's',
  failingAnyOf: 'f',
  unknownAnyOf: 'u',
  lastCheckedBefore: 'b',
};

interface FilteredList {
  readonly filter: ComputerFilter;
  readonly driver: Driver;
  /** The driver's condition. */
  readonly driving: string;
  /** The conditions of all other filters, each behind AND. */
  readonly others: string;
  /** See {@link branchesOfPostures}. */
  readonly branches: readonly PostureBranch[];
  readonly areFewChecks: boolean;
}

export const hasPostures = ({ isMonitored, failingAnyOf, unknownAnyOf }: ComputerFilter): boolean =>
  isMonitored !== undefined || failingAnyOf !== undefined || unknownAnyOf !== undefined;

/** Conditions on columns of `listed_computer`, by the driver that each could be. Identifiers are in a view of their own. */
function conditionsOf(filter: ComputerFilter, addValue: AddValue): Partial<Record<Driver, string>> {
  const { serialNumber, externalId, ownerId, source, lastCheckedBefore } = filter;
  const hasIdentifiers = serialNumber !== undefined || externalId !== undefined;
  return {
    ...(hasIdentifiers && { identifiers: identifiersOf(filter, addValue) }),
    ...(ownerId !== undefined && { owner: `owner_id = ${addValue(ownerId, 'uuid')}` }),
    ...(source !== undefined && { source: `source = ${addValue(source, 'text')}` }),
    ...(hasPostures(filter) && { postures: `posture = ANY (${addValue(postureCodesOf(filter), 'smallint[]')})` }),
    ...(lastCheckedBefore !== undefined && {
      checks: `last_checked_at < ${addValue(lastCheckedBefore.toISOString(), 'timestamptz')} OR last_checked_at IS NULL`,
    }),
  };
}

/**
 * A total of one filter, or of postures together, is a sum of counters. All else is counted among the driver's rows: those
 * of an owner and of identifiers are few.
 */
function totalOf({ filter, driver, driving, others }: FilteredList, addValue: AddValue): string {
  if (driver === 'none') return sumOf('posture', 'true');
  if (driver === 'identifiers') return `(SELECT count(*) FROM ${identified(driving)} WHERE true ${others})`;
  if (others === '' && driver === 'source') return sumOf('source', driving);
  if (others === '' && driver === 'postures') return sumOf('posture', `(${driving.replace('posture', 'key')}) IS TRUE`);
  if (others === '' && filter.lastCheckedBefore) {
    const time = filter.lastCheckedBefore;
    const nearest = nearestSpan(time);
    // Checks between the time and the nearest counter are counted, and added or taken away.
    const start = new Date(nearest * SPAN_MS);
    const [from, to] = start < time ? [start, time] : [time, start];
    const [span, sign, least, end] = [
      addValue(String(nearest), 'bigint'),
      addValue(start < time ? '1' : '-1', 'int'),
      addValue(from.toISOString(), 'timestamptz'),
      addValue(to.toISOString(), 'timestamptz'),
    ];
    const between = countOf(`last_checked_at >= ${least} AND last_checked_at < ${end}`);
    return `${sumOf('check', `key < ${span}`)} + ${sign} * ${between}`;
  }
  if (driver === 'checks')
    return `${countOf(`${timed(driving)} ${others}`)} + ${countOf(`${NEVER_CHECKED} ${others}`)}`;
  return countOf(`${driving} ${others}`);
}

const NEVER_CHECKED = 'last_checked_at IS NULL';
/** Without those that were never checked, which have a branch of their own. */
const timed = (checks: string): string => checks.replace(` OR ${NEVER_CHECKED}`, '');

const countOf = (condition: string): string =>
  `(SELECT count(*) FROM listed_computer WHERE workspace_id = $1 AND ${condition})`;

function pageOf({ driver, driving, others, branches, areFewChecks }: FilteredList): string {
  if (driver === 'identifiers') {
    return `SELECT id FROM ${identified(driving)} WHERE id > $2::bigint ${others} ORDER BY id LIMIT $3::int`;
  }
  if (driver === 'postures') {
    if (branches.length > 0) return merged(branches.map(({ condition }) => branch(`${condition} ${others}`)));
    return `
      SELECT one.id FROM (
        SELECT posture FROM (SELECT key::smallint AS posture, n FROM computer_count WHERE workspace_id = $1 AND kind = 0) AS counts
         WHERE (${driving}) IS TRUE GROUP BY posture HAVING sum(n) > 0) AS occurring
       CROSS JOIN LATERAL ${branch(`listed_computer.posture = occurring.posture ${others}`)} AS one
       ORDER BY id LIMIT $3::int`;
  }
  if (driver === 'checks') {
    const few = `
      (SELECT id FROM (
        SELECT id FROM listed_computer
         WHERE workspace_id = $1 AND (id > $2::bigint) IS TRUE AND ${timed(driving)} ${others} OFFSET 0) AS few
        ORDER BY id LIMIT $3::int)`;
    return merged([
      areFewChecks ? few : branch(`(${timed(driving)}) IS TRUE ${others}`),
      branch(`${NEVER_CHECKED} ${others}`, 'last_checked_at, id'),
    ]);
  }
  return branch(`${driving} ${others}`);
}

/** The first rows behind the position. */
const branch = (condition: string, order = 'id'): string => `
  (SELECT id FROM listed_computer WHERE workspace_id = $1 AND id > $2::bigint AND ${condition} ORDER BY ${order} LIMIT $3::int)`;

/** The first rows of several branches, each once. */
const merged = (branches: readonly string[]): string =>
  branches.length === 1
    ? branches.join('')
    : `SELECT DISTINCT id FROM (${branches.join(' UNION ALL ')}) AS merged ORDER BY id LIMIT $3::int`;

/** The rows of an identifier: at most one for each source that has one, or those that share a serial number. */
const identified = (driving: string): string => `(
  SELECT listed.* FROM (${driving}) AS identified
   CROSS JOIN LATERAL (
     SELECT * FROM listed_computer WHERE workspace_id = $1 AND id = identified.id LIMIT 1) AS listed) AS listed`;

function identifiersOf({ serialNumber, externalId, source }: ComputerFilter, addValue: AddValue): string {
  // COLLATE and the length are those of the index `asset_serial_number`.
  const serial =
    serialNumber === undefined
      ? 'true'
      : `serial_number COLLATE "C" = ${addValue(serialNumber, 'text')} AND char_length(serial_number) <= 256`;
  if (externalId === undefined) return `SELECT id FROM identified_computer WHERE workspace_id = $1 AND ${serial}`;
  const sources =
    source === undefined
      ? `SELECT DISTINCT source FROM computer_count WHERE workspace_id = $1 AND kind = 2`
      : `SELECT ${addValue(source, 'text')} AS source`;
  return `
    SELECT one.id FROM (${sources}) AS sources
     CROSS JOIN LATERAL (
       SELECT id, serial_number FROM identified_computer
        WHERE workspace_id = $1 AND source = sources.source AND external_id = ${addValue(externalId, 'text')} LIMIT 1) AS one
     WHERE ${serial}`;
}

interface PostureBranch {
  /** Its part of the name of the statement. */
  readonly name: string;
  readonly condition: string;
}

/**
 * The branches of a single filter of postures: one for each check, or one for all monitored computers. Several filters
 * together have none: there a branch for each posture that occurs serves.
 */
function branchesOfPostures({ isMonitored, failingAnyOf, unknownAnyOf }: ComputerFilter): PostureBranch[] {
  if (isMonitored !== undefined && !failingAnyOf && !unknownAnyOf) {
    const condition = `posture ${isMonitored ? '>=' : '<'} ${FIRST_MONITORED}`;
    return [{ name: isMonitored ? 'm1' : 'm0', condition }];
  }
  if (isMonitored !== undefined || (failingAnyOf && unknownAnyOf)) return [];
  const ofState = (checks: readonly Check[], state: CheckState) =>
    CHECKS.filter((check) => checks.includes(check)).map((check) => ({
      name: `${state.charAt(0).toLowerCase()}${CHECKS.indexOf(check)}`,
      condition: `posture / ${weightOf(check)} % ${CHECK_STATES.length} = ${CHECK_STATES.indexOf(state)}`,
    }));
  return [...ofState(failingAnyOf ?? [], 'FAILING'), ...ofState(unknownAnyOf ?? [], 'UNKNOWN')];
}

const FIRST_MONITORED = POSTURES.findIndex(({ isMonitored }) => isMonitored);

/** What a check weighs in `listed_computer.posture`; see migration 1780000000060-listed-computers. */
const weightOf = (check: Check): number => CHECK_STATES.length ** (CHECKS.length - 1 - CHECKS.indexOf(check));
