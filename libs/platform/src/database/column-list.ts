import type { TextRow } from './pipelined-statements';

/** The columns that a statement selects, and the place of each in a row. */
export interface ColumnList<Name extends string> {
  /** Expressions for SELECT. A column whose name ends in `_at` is a time, and is read as milliseconds since 1970. */
  readonly selected: readonly string[];
  /** `next` is the first place after the columns. */
  readonly at: Readonly<Record<Name | 'next', number>>;
}

/** Lists columns by name, so that SQL and the function that reads a row share one order. */
export function columnList<Name extends string>(names: readonly Name[]): ColumnList<Name> {
  const places = [...names, 'next'].map((name, place) => [name, place]);
  return {
    selected: names.map((name) => (name.endsWith('_at') ? `(extract(epoch FROM ${name}) * 1000)::bigint` : name)),
    at: Object.fromEntries(places) as Record<Name | 'next', number>,
  };
}

/** Reads a nullable boolean of a row. */
export const toBoolean = (column: TextRow[number] | undefined): boolean | null =>
  column == null ? null : column === 't';
