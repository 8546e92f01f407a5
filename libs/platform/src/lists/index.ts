export { type ListDeclaration, type ListRange, type WantedCells, anyOf, equals } from './declaration';
export { type List, type WantedRows, listOf } from './list';
export { type WrongCounter } from './reconciliation';
