export { LONGEST_INDEXED, type ListRange, type WantedCells, anyOf, equals, equalsText } from './declaration';
export { type WantedRows, listOf } from './list';
export { ownerFilters, ownerFiltersOf } from './owner-filters';
export { reconcile } from './reconciliation';
