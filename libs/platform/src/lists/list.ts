import { type Page, type PageRequest, type ReadScope, type WorkspaceId, newestOf, toPage } from '#libs/kernel';
import type { Database } from '../database/database';
import {
  type BoundStatement,
  RowBudget,
  type Statement,
  type TextRow,
  bind,
  prepared,
} from '../database/pipelined-statements';
import type { ListDeclaration, ListFilter, ListOrder, ListRange, WantedRows } from './declaration';

/** The text of a statement depends on these. */
interface StatementShape {
  /** Whether some values of each column of cells are wanted, or all. */
  readonly cells: readonly boolean[];
  /** The filters in the order of their values. */
  readonly filters: readonly string[];
  /** Null where one range holds all rows, or filters choose among them. */
  readonly ranges: readonly { readonly condition: string; readonly count: number }[] | null;
  /** False where the total is known: it is the last value. */
  readonly counts: boolean;
}

/** Plans with the values: what a filter matches ranges from one row to nearly all. */
const PLAN_WITH_VALUES = bind(
  prepared('plan_with_values', `SELECT set_config('plan_cache_mode', 'force_custom_plan', true)`),
  [],
);

/** Clients can make 14,000, of some 3 kB each. Making one again takes microseconds. */
const MOST_STATEMENTS = 1_000;

/** Ids begin at 1. */
const BY_ID: Omit<ListOrder, 'position'> = { by: 'id', start: '0', after: (position) => `${position}::bigint` };
/**
 * Up to so many matches are all read, and then sorted: the planner knows little of how filters go together, and might pass
 * over the whole list in its order to find a few.
 */
const FEW = 20_000;
/** More ranges than this are padded, so that few statements serve any number of them. */
const UNPADDED = 16;
const paddedLength = (count: number): number => (count <= UNPADDED ? count : 2 ** Math.ceil(Math.log2(count)));

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
    if (wanted.cells?.some((values) => values?.length === 0)) return this.pageOf([], page.size);
    const statement = this.statement(scope.workspaceId, wanted, page, total);
    const batch = this.filtersOf(wanted).length > 0 ? [PLAN_WITH_VALUES, statement] : [statement];
    const rows = (await database.read(scope, batch)).at(-1) ?? [];
    return this.pageOf(rows, page.size, statement.budget);
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
    const values = [
      ...[workspaceId, page.after ?? order.start, String(page.size + 1)],
      ...arrays.flatMap((some) => (some ? [`{${some.join(',')}}`] : [])),
      ...given.map((filter) => textOf(wanted.filters[filter], filters[filter])),
      ...(counts ? [] : [String(total)]),
      ...(ranges ?? []).flatMap(valuesOf),
    ];
    return bind(statement, values, budgetOf(page));
  }

  /** Makes a page of the rows of {@link statement}: one more than the page holds, or one without a position. */
  private pageOf(rows: readonly TextRow[], size: number, budget?: RowBudget): Page<Item> {
    const { columns, toItem, order } = this.declared;
    const at = order ? { id: columns.at.next, next: columns.at.next + 1 } : columns.at;
    const found = rows.filter((row) => row[at.id] !== null);
    const total = Number(rows[0]?.[at.next] ?? 0);
    const { items, ...place } = toPage(found, size, total, (row) => row[at.id] as string);
    return { items: items.map(toItem), ...place, ...(budget?.isCut ? { endPosition: place.lastPosition } : {}) };
  }

  private filtersOf({ filters }: WantedRows<Name>): Name[] {
    return (Object.keys(this.declared.filters) as Name[]).filter((name) => filters[name] !== undefined);
  }
}

/** Declares a list. Its pages and its totals follow. `reconcile` checks its counters. */
export const listOf = <Item, Name extends string>(declared: ListDeclaration<Item, Name>): List<Item, Name> =>
  new List(declared);

/**
 * Reads a page and its exact total in one statement, so both come from one snapshot. The total follows the columns. An
 * empty page is one row with null columns.
 *
 * Values: $1 workspace, $2 position to start after, $3 rows wanted, the wanted values of cells as arrays, the values of
 * filters, and those of the ranges.
 */
function listText<Item, Name extends string>(
  declared: ListDeclaration<Item, Name>,
  { cells, filters, ranges, counts }: StatementShape,
): string {
  const { relation, visible = 'true', columns, order, cells: counted } = declared;
  const { by, after } = order ?? BY_ID;
  let parameter = 3;
  const next = (type: string): string => `$${(parameter += 1)}::${type}`;
  const ofCells = cells.flatMap((some, place) =>
    some ? [`${counted?.columns[place]} = ANY (${next('smallint[]')})`] : [],
  );
  const given = filters.map((name) => {
    const filter: ListFilter = declared.filters[name as Name];
    return { filter, value: next(filter.type ?? 'text') };
  });
  const rows = `FROM ${relation} WHERE workspace_id = $1 AND ${visible}`;
  const matching = [...ofCells, ...given.map(({ filter, value }) => filter.condition(value))]
    .map((condition) => ` AND ${condition}`)
    .join('');
  const isBehind = `${by} > ${after('$2')}`;
  const page = (condition: string, selected: string): string => `
    SELECT ${selected} ${rows} ${condition} AND ${isBehind}
     ORDER BY ${by} LIMIT $3::int`;

  /** The first that fits: the counter of the cells, that of the filter, a count. */
  const total = (): string => {
    if (!counts) return `SELECT ${next('bigint')} AS n`;
    const sum = (table: string, condition = ''): string => `
      SELECT coalesce(sum(n) ${ofCells.length > 0 ? `FILTER (WHERE ${ofCells.join(' AND ')})` : ''}, 0) AS n
        FROM ${table} WHERE workspace_id = $1 ${condition}`;
    const [first, ...others] = given;
    if (!first && counted) return sum(counted.counter);
    const counter = others.length === 0 ? first?.filter.counter : undefined;
    if (!first || !counter) return `SELECT count(*) AS n ${rows} ${matching}`;
    return sum(counter.table, `AND ${(counter.condition ?? first.filter.condition)(first.value)}`);
  };
  const merged = (): string => {
    const branches = (ranges ?? []).flatMap(({ condition, count }) =>
      Array.from({ length: count }, () => page(`AND ${condition.replaceAll('?', () => next('smallint'))}`, '*')),
    );
    return `SELECT * FROM (${branches.map((branch) => `(${branch})`).join(' UNION ALL ')}) AS merged
             ORDER BY ${by} LIMIT $3::int`;
  };
  // An index may hold all that the ids need. Only the rows of the page are then read.
  const found = (): string => `
    SELECT item.* FROM (
      (${page(`${matching} AND total.n > ${FEW}`, 'id')})
      UNION ALL
      (SELECT id FROM (
        SELECT id, ${by} AS place ${rows} ${matching} AND ${isBehind} AND total.n BETWEEN 1 AND ${FEW} OFFSET 0) AS few
        ORDER BY place LIMIT $3::int)) AS found
      JOIN ${relation} AS item ON item.workspace_id = $1 AND item.id = found.id`;
  return `
    SELECT ${[...columns.selected, ...(order ? [order.position] : [])].join(', ')}, total.n
      FROM (${total()}) AS total
      LEFT JOIN LATERAL (${ranges ? merged() : filters.length === 0 ? page('', '*') : found()}) AS page ON true
     ORDER BY ${by}`;
}

const budgetOf = ({ size, mostBytes }: PageRequest): RowBudget | undefined =>
  mostBytes === undefined ? undefined : new RowBudget(size + 1, mostBytes);

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
