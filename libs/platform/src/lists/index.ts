export { type ListRange, type WantedCells, anyOf, equals } from './declaration';
export { type WantedRows, listOf } from './list';
export { ownerFilters, ownerFiltersOf } from './owner-filters';
