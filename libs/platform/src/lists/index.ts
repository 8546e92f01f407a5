export {
  LONGEST_INDEXED,
  type ListRange,
  type WantedCells,
  type WantedRows,
  anyOf,
  equals,
  equalsText,
  isIndexed,
} from './declaration';
export { listOf } from './list';
export { ownerFilters, ownerFiltersOf } from './owner-filters';
export { reconcile } from './reconciliation';
