export { type ListDeclaration, type ListRange, type WantedCells, anyOf, equals } from './declaration';
export { type List, type WantedRows, listOf } from './list';
export { ownerFilters, ownerFiltersOf } from './owner-filters';
export { type WrongCounter } from './reconciliation';
