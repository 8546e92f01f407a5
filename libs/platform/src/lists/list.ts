import { type Page, type PageRequest, type ReadScope, type WorkspaceId, newestOf } from '#libs/kernel';
import { boundedBy, pageOfRows } from '../database/column-list';
import type { Database } from '../database/database';
import { type BoundStatement, type Statement, bind, prepared } from '../database/pipelined-statements';
import type { ListDeclaration, ListFilter, ListRange, WantedCells } from './declaration';
import { BY_ID, type StatementShape, listText, paddedLength } from './list-text';

/** The rows that a client wants. */
export interface WantedRows<Name extends string> {
  /** Absent for all cells. */
  readonly cells?: WantedCells;
  /** Values of filters. An absent one does not filter; other members are ignored. */
  readonly filters: { readonly [Filter in Name]?: unknown };
}

/** Plans with the values: what a filter matches ranges from one row to nearly all. */
const PLAN_WITH_VALUES = bind(
  prepared('plan_with_values', `SELECT set_config('plan_cache_mode', 'force_custom_plan', true)`),
  [],
);

/** Clients can make 14,000, of some 3 kB each. Making one again takes microseconds. */
const MOST_STATEMENTS = 1_000;

/** A list as it is read. */
export class List<Item, Name extends string> {
  private readonly statements = new Map<string, Statement>();

  constructor(readonly declared: ListDeclaration<Item, Name>) {}

  /** Reads one page and the exact total, of one moment, in one round trip. Does not count where the total is known. */
  async page(
    database: Database,
    scope: ReadScope,
    wanted: WantedRows<Name>,
    page: PageRequest,
    total: number | null = null,
  ): Promise<Page<Item>> {
    const { columns, toItem, order } = this.declared;
    const at = order ? { id: columns.at.next, next: columns.at.next + 1 } : columns.at;
    if (wanted.cells?.some((values) => values?.length === 0)) return pageOfRows([], page.size, at, toItem);
    const statement = boundedBy(this.statement(scope.workspaceId, wanted, page, total), page);
    const batch = this.filtersOf(wanted).length > 0 ? [PLAN_WITH_VALUES, statement] : [statement];
    const rows = (await database.read(scope, batch)).at(-1) ?? [];
    return pageOfRows(rows, page.size, at, toItem, statement.budget);
  }

  /** Returns the function that reads the whole list as it is now, page by page. It counts once. */
  reader(
    database: Database,
    workspaceId: WorkspaceId,
    wanted: WantedRows<Name>,
  ): (page: PageRequest) => Promise<Page<Item>> {
    let total: number | null = null;
    return async (page) => {
      const found = await this.page(database, newestOf(workspaceId), wanted, page, total);
      total = found.totalCount;
      return found;
    };
  }

  /** The statement of a page. Its rows are those of the columns, then the position where it is no id, then the total. */
  statement(
    workspaceId: WorkspaceId,
    wanted: WantedRows<Name>,
    page: PageRequest,
    total: number | null = null,
  ): BoundStatement {
    const { name, cells, filters, order = BY_ID } = this.declared;
    const given = this.filtersOf(wanted);
    const wantedCells = cells ? (wanted.cells ?? cells.columns.map(() => null)) : [];
    const ranges = given.length === 0 ? (cells?.ranges(...wantedCells) ?? null) : null;
    const counts = total === null;
    // A page of ranges alone names no cells.
    const arrays = counts || !ranges ? wantedCells : [];
    const shape: StatementShape = {
      cells: arrays.map((values) => values !== null),
      filters: given,
      ranges: ranges?.map(({ condition, values }) => ({ condition, count: paddedLength(values.length) })) ?? null,
      counts,
    };
    const key = JSON.stringify(shape);
    let statement = this.statements.get(key);
    if (!statement) {
      if (this.statements.size === MOST_STATEMENTS) this.statements.clear();
      this.statements.set(key, (statement = prepared(name, listText(this.declared, shape))));
    }
    return bind(statement, [
      ...[workspaceId, page.after ?? order.start, String(page.size + 1)],
      ...arrays.flatMap((values) => (values ? [`{${values.join(',')}}`] : [])),
      ...given.map((filter) => textOf(wanted.filters[filter], filters[filter])),
      ...(counts ? [] : [String(total)]),
      ...(ranges ?? []).flatMap(valuesOf),
    ]);
  }

  private filtersOf({ filters }: WantedRows<Name>): Name[] {
    return (Object.keys(this.declared.filters) as Name[]).filter((name) => filters[name] !== undefined);
  }
}

/** Declares a list. Its pages and its totals follow. `reconcile` checks its counters. */
export const listOf = <Item, Name extends string>(declared: ListDeclaration<Item, Name>): List<Item, Name> =>
  new List(declared);

function textOf(value: unknown, { type = 'text' }: ListFilter): string {
  if (Array.isArray(value)) return `{${value.join(',')}}`;
  return type === 'timestamptz' ? (value as Date).toISOString() : String(value);
}

/** Ranges that only pad have null, and hold nothing. */
function valuesOf({ condition, values }: ListRange): (string | null)[] {
  const given = values.flat().map(String);
  const all = paddedLength(values.length) * (condition.split('?').length - 1);
  return [...given, ...Array.from({ length: all - given.length }, () => null)];
}
