import { type WantedRows, anyOf, equals, equalsText, listOf, ownerFilters, ownerFiltersOf } from '#libs/platform/lists';
import { type ComputerFilter, posturesOf } from '../domain/computer-filter';
import { POSTURES } from '../domain/posture';
import { COMPUTER_COLUMNS, EXPANDED_COMPUTER_COLUMNS, toComputer, toExpandedComputer } from './visible-computer.row';

/** The facets of an asset (see the inventory), of which each has a range of an index. */
const FACETS = Array.from({ length: 16 }, (_, facet) => facet);
/** Those with an owner have this bit. */
const OWNED = FACETS.filter((facet) => (facet & 2) !== 0);

const COMPUTERS = {
  relation: 'visible_computer',
  cells: {
    columns: ['facet'],
    counter: 'computer_count',
    ranges: () => [{ condition: 'facet = ?', values: FACETS.map((facet) => [facet]) }],
  },
};

/** The visible computers, through the views of the inventory. Each filter has an index there. */
export const COMPUTER_LIST = listOf({
  ...COMPUTERS,
  name: 'computer_list',
  columns: COMPUTER_COLUMNS,
  toItem: toComputer,
  filters: {
    ids: anyOf('public_id', 'uuid[]'),
    ownerId: equals('owner_id', 'uuid'),
    ...ownerFilters({ ...COMPUTERS, hasOwner: `facet IN (${OWNED.join(', ')})` }),
    serialNumber: equalsText('serial_number'),
    externalId: {
      condition: (value) => `external_id = ${value} AND source = ANY (
        ARRAY(SELECT DISTINCT source FROM computer_source_count WHERE workspace_id = $1))`,
    },
    source: { ...equals('source'), counter: { table: 'computer_source_count', key: 'source' } },
    /** An array of places in {@link POSTURES}. Every computer has one. */
    postures: anyOf('posture', 'smallint[]'),
    lastCheckedBefore: {
      type: 'timestamptz',
      condition: (value) => `(last_checked_at < ${value} OR last_checked_at IS NULL)`,
    },
  },
});

/** The same computers, each with its owner. */
export const EXPANDED_COMPUTER_LIST = listOf({
  ...COMPUTER_LIST.declared,
  columns: EXPANDED_COMPUTER_COLUMNS,
  toItem: toExpandedComputer,
});

/** The list's own conditions for a filter. */
export function wantedComputers(filter: ComputerFilter): WantedRows<keyof typeof COMPUTER_LIST.declared.filters> {
  const postures = posturesOf(filter).map((posture) => POSTURES.indexOf(posture));
  return {
    filters: {
      ...filter,
      ...ownerFiltersOf(filter.ownerVisible),
      postures: postures.length === POSTURES.length ? undefined : postures,
    },
  };
}
