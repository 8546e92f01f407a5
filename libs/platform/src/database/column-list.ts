import { type Page, toPage } from '#libs/kernel';
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

/**
 * Makes a page of the rows of a statement, which reads one more than the page holds. `at` tells where a row has its
 * position and the total. An empty page is one row without a position.
 */
export function pageOfRows<Item>(
  rows: readonly TextRow[],
  size: number,
  at: { readonly id: number; readonly next: number },
  toItem: (row: TextRow) => Item,
): Page<Item> {
  const found = rows.filter((row) => row[at.id] !== null);
  const total = Number(rows[0]?.[at.next] ?? 0);
  const { items, ...place } = toPage(found, size, total, (row) => row[at.id] as string);
  return { items: items.map(toItem), ...place };
}
