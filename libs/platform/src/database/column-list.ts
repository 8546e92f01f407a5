import type { Owner } from '#libs/kernel';
import { getMetadataArgsStorage } from 'typeorm';
import type { TextRow } from './pipelined-statements';

/** The columns that a statement selects, and the place of each in a row. */
export interface ColumnList<Name extends string> {
  /** Expressions for SELECT. A column whose name ends in `_at` is a time, and is read as milliseconds since 1970. */
  readonly selected: readonly string[];
  /** `next` is the first place after the columns. */
  readonly at: Readonly<Record<Name | 'next', number>>;
}

/**
 * Lists the columns of an entity in the order of its properties, without those that a row does not show. So SQL and the
 * function that reads a row share one order.
 */
export function columnList<Row extends object, Hidden extends keyof Row>(
  entity: new () => Row,
  hidden: readonly Hidden[],
): ColumnList<Exclude<keyof Row & string, Hidden>> {
  type Name = Exclude<keyof Row & string, Hidden>;
  const columns = getMetadataArgsStorage().filterColumns(withParents(entity));
  const names = columns.map(({ propertyName }) => propertyName as keyof Row & string);
  const shown = names.filter((name): name is Name => !hidden.some((one) => one === name));
  const places = [...shown, 'next'].map((name, place) => [name, place]);
  return {
    selected: shown.map((name) => (name.endsWith('_at') ? `(extract(epoch FROM ${name}) * 1000)::bigint` : name)),
    at: Object.fromEntries(places) as Record<Name | 'next', number>,
  };
}

function withParents(entity: new () => object): (new () => object)[] {
  const parent = Object.getPrototypeOf(entity) as new () => object;
  return parent === Function.prototype ? [entity] : [...withParents(parent), entity];
}

/** Adds a column that SQL computes from a row of a list, which is `page` there. */
export function withColumn<Name extends string, Added extends string>(
  { selected, at }: ColumnList<Name>,
  name: Added,
  sql: string,
): ColumnList<Name | Added> {
  return {
    selected: [...selected, sql],
    at: { ...at, [name]: at.next, next: at.next + 1 } as typeof at & Record<Added, number>,
  };
}

/** Adds the owner of a row of a list, as the view `visible_owner` of the inventory shows it. */
export const withOwner = <Name extends string>(columns: ColumnList<Name>): ColumnList<Name | 'owner'> =>
  withColumn(
    columns,
    'owner',
    '(SELECT shown FROM visible_owner AS owner WHERE owner.workspace_id = $1 AND owner.owner_id = page.owner_id)',
  );

/** Reads a column of {@link withOwner}. */
export const toOwner = (column: TextRow[number] | undefined): Owner | null =>
  column == null ? null : (JSON.parse(column) as Owner);

/** Reads a nullable boolean of a row. */
export const toBoolean = (column: TextRow[number] | undefined): boolean | null =>
  column == null ? null : column === 't';
