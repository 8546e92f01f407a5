import type { ListDeclaration, ListFilter, ListOrder } from './declaration';

/** The text of a statement depends on these. */
export interface StatementShape {
  /** Whether some values of each column of cells are wanted, or all. */
  readonly cells: readonly boolean[];
  /** The filters in the order of their values. */
  readonly filters: readonly string[];
  /** Null where one range holds all rows, or filters choose among them. */
  readonly ranges: readonly { readonly condition: string; readonly count: number }[] | null;
  /** False where the total is known: it is the last value. */
  readonly counts: boolean;
}

/** Ids begin at 1. */
export const BY_ID: Omit<ListOrder, 'position'> = { by: 'id', start: '0', after: (position) => `${position}::bigint` };
/**
 * Up to so many matches are all read, and then sorted: the planner knows little of how filters go together, and might pass
 * over the whole list in its order to find a few.
 */
const FEW = 20_000;
/** More ranges than this are padded, so that few statements serve any number of them. */
const UNPADDED = 16;
export const paddedLength = (count: number): number => (count <= UNPADDED ? count : 2 ** Math.ceil(Math.log2(count)));

/**
 * Reads a page and its exact total in one statement, so both come from one snapshot. The total follows the columns. An
 * empty page is one row with null columns.
 *
 * Values: $1 workspace, $2 position to start after, $3 rows wanted, the wanted values of cells as arrays, the values of
 * filters, and those of the ranges.
 */
export function listText<Item, Name extends string>(
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
