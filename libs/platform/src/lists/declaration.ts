import type { ColumnList } from '../database/column-list';
import type { TextRow } from '../database/pipelined-statements';

/** A list of the rows of one table or view. Everything about the list follows from it: see `listOf`. */
export interface ListDeclaration<Item, Name extends string> {
  /** The label of its statements. */
  readonly name: string;
  /** A table or view with the columns `workspace_id` and `id`. */
  readonly relation: string;
  /** The rows that clients see, as SQL. Every row if absent. */
  readonly visible?: string;
  /** The columns that {@link toItem} reads. They include `id`. */
  readonly columns: ColumnList<'id'>;
  readonly toItem: (row: TextRow) => Item;
  /** By `id` if absent. */
  readonly order?: ListOrder;
  readonly cells?: ListCells;
  readonly filters: Readonly<Record<Name, ListFilter>>;
}

/** A filter: one condition on a row. A migration builds its index, which begins with `workspace_id`. */
export interface ListFilter {
  /** Postgres' type of its value; `text` if absent. */
  readonly type?: string;
  /** SQL over the columns of the relation and a parameter with the value. */
  readonly condition: (value: string) => string;
  /** Counts the visible rows of each value, so that none needs to be counted for a total. */
  readonly counter?: FilterCounter;
}

/** A table or view with the number `n` of visible rows by value and cell. Triggers keep it exact. */
export interface FilterCounter {
  readonly table: string;
  /** The column with the value. Null where the counter follows from others, so that it needs no check. */
  readonly key: string | null;
  /** SQL that finds the rows of a value of the filter. The condition of the filter if absent. */
  readonly condition?: (value: string) => string;
  /** SQL of the rows that it counts, each with `key` and the cell. The visible rows of the list if absent. */
  readonly counted?: string;
  /** SQL of the text by which operators know a value. The key if absent. */
  readonly shown?: string;
}

/**
 * Columns with few values, which are counted together. A list by them alone reads one range of an index for each wanted
 * cell, so it costs the same in a list of any size (docs/decisions/0003).
 */
export interface ListCells {
  /** Columns of the relation and of every counter, of the type `smallint`. */
  readonly columns: readonly string[];
  /** A table or view with the number `n` of visible rows by cell. */
  readonly counter: string;
  /** The ranges that hold the wanted cells. Null when one range holds all of them. */
  readonly ranges: (...wanted: WantedCells) => readonly ListRange[] | null;
}

/** The wanted values of each column of cells; null for all of them. */
export type WantedCells = readonly (readonly number[] | null)[];

/** The rows that a client wants. */
export interface WantedRows<Name extends string> {
  /** Absent for all cells. */
  readonly cells?: WantedCells;
  /** Values of filters. An absent one does not filter; other members are ignored. */
  readonly filters: { readonly [Filter in Name]?: unknown };
}

/** Ranges of an index in the order of the list: `condition` has a `?` for each value of a range. */
export interface ListRange {
  readonly condition: string;
  readonly values: readonly (readonly number[])[];
}

/** The order of a list whose rows are not in that of their ids. */
export interface ListOrder {
  /** SQL over the columns of the relation. Unique within a workspace. */
  readonly by: string;
  /** SQL of the position of a row, as its cursor keeps it. */
  readonly position: string;
  /** The position before every row. */
  readonly start: string;
  /** SQL of the value behind which a page begins, given a parameter with a position. */
  readonly after: (position: string) => string;
}

/** Equality with one of several values of a column. `type` is that of the array. */
export const anyOf = (column: string, type: string): Pick<ListFilter, 'type' | 'condition'> => ({
  type,
  condition: (value) => `${column} = ANY (${value})`,
});

/** Equality with a column. */
export const equals = (column: string, type = 'text'): Pick<ListFilter, 'type' | 'condition'> => ({
  type,
  condition: (value) => `${column} = ${value}`,
});

/** Longer texts are not in the indexes of {@link equalsText}, because no filter asks for them. */
export const LONGEST_INDEXED = 256;

/** Whether a text is in its index, as the condition of a partial one. */
export const isIndexed = (column: string): string => `char_length(${column}) <= ${LONGEST_INDEXED}`;

/** Equality with a column of any text, whose index is by code points. */
export const equalsText = (column: string): Pick<ListFilter, 'condition'> => ({
  condition: (value) => `(${column} COLLATE "C" = ${value} AND ${isIndexed(column)})`,
});
