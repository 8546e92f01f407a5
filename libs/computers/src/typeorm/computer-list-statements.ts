import type { PageRequest, WorkspaceId } from '#libs/kernel';
import { type BoundStatement, type TextRow, bind, prepared } from '#libs/platform/database';
import type { ComputerFilter } from '../domain/computer-filter';
import { NEVER_CHECKED_KEY, spanOf, sumsOf, postureCodesOf } from './computer-counts';
import { type Driver, filteredList, hasPostures } from './filtered-list';

/** Before the first row: ids begin at 1. */
const START = '0';

/** The filters by which a list could be read. Their sizes tell which of several is best. */
function driversOf(filter: ComputerFilter): Driver[] {
  const { serialNumber, externalId, ownerId, source, lastCheckedBefore } = filter;
  if (serialNumber !== undefined || externalId !== undefined) return ['identifiers'];
  if (ownerId !== undefined) return ['owner'];
  return [
    ...(source === undefined ? [] : ['source' as const]),
    ...(hasPostures(filter) ? ['postures' as const] : []),
    ...(lastCheckedBefore === undefined ? [] : ['checks' as const]),
  ];
}

/** How many computers match a filter by the counters. `checks` leaves out those that were never checked. */
export type Sizes = Readonly<Record<'all' | 'source' | 'postures' | 'checks', number>>;

/** Whether {@link listStatement} needs to know how many computers match. */
export function needsSizes(filter: ComputerFilter): boolean {
  const drivers = driversOf(filter);
  return drivers.length > 1 || drivers[0] === 'checks';
}

const SIZES = prepared(
  'computer_sizes',
  sumsOf([
    ['posture', 'true'],
    ['source', 'source = $2::text'],
    ['posture', 'key = ANY ($3::bigint[])'],
    ['check', `key > ${NEVER_CHECKED_KEY} AND key <= $4::bigint`],
  ]),
);

export const sizesStatement = (workspaceId: WorkspaceId, filter: ComputerFilter): BoundStatement =>
  bind(SIZES, [
    workspaceId,
    filter.source ?? '',
    postureCodesOf(filter),
    String(spanOf(filter.lastCheckedBefore ?? new Date(0))),
  ]);

export function toSizes(row: TextRow = []): Sizes {
  const [all = 0, source = 0, postures = 0, checks = 0] = row.map(Number);
  return { all, source, postures, checks };
}

/**
 * Reads a page and its exact total in one statement, so both come from one snapshot. The total follows the computer's
 * columns; an empty page is one row with null columns.
 */
export function listStatement(
  workspaceId: WorkspaceId,
  filter: ComputerFilter,
  page: PageRequest,
  sizes: Sizes | null,
): BoundStatement {
  const position = [workspaceId, page.after ?? START, String(page.size + 1)];
  const [first, ...others] = driversOf(filter);
  if (first === undefined) return filteredList(filter, 'none', false, position);
  const sizeOf = (driver: Driver): number => (sizes as Partial<Record<Driver, number>> | null)?.[driver] ?? 0;
  const driver = others.reduce((least, other) => (sizeOf(other) < sizeOf(least) ? other : least), first);
  // Up to here, sorting all of them reads less than passing over the others until a page is full.
  const areFewChecks = sizes !== null && sizes.checks ** 2 <= (page.size + 1) * sizes.all;
  return filteredList(filter, driver, areFewChecks, position);
}
