import type { WorkspaceId } from '#libs/kernel';
import type { Database } from '../database/database';
import type { ListDeclaration } from './declaration';

/** A counter that differed from a full count. */
interface WrongCounter {
  /** The filter whose value is counted; null for a cell alone. */
  readonly filter: string | null;
  readonly value: string | null;
  /** The cell, by the columns of {@link ListDeclaration.cells}. */
  readonly cell: readonly number[];
  readonly counted: number;
  readonly actual: number;
}

interface Counter {
  readonly filter: string | null;
  readonly table: string;
  /** The columns of its key, and those of the cell among them. */
  readonly keys: readonly string[];
  readonly cell: readonly string[];
  /** SQL of the rows that it counts, and of the value that operators see. */
  readonly counted: string;
  readonly shown: string;
}

/** Compares a list's counters with a full count, and corrects them. Returns those that were wrong. */
export async function reconcile<Item, Name extends string>(
  database: Database,
  workspaceId: WorkspaceId,
  declared: ListDeclaration<Item, Name>,
): Promise<WrongCounter[]> {
  const wrong: WrongCounter[] = [];
  for (const counter of countersOf(declared)) wrong.push(...(await repair(database, workspaceId, counter)));
  return wrong;
}

/** The counters that are tables of the list's owner. */
function countersOf<Item, Name extends string>(declared: ListDeclaration<Item, Name>): Counter[] {
  const { relation, visible = 'true', cells, filters } = declared;
  if (!cells) return [];
  const [cell, rows] = [cells.columns, `${relation} WHERE workspace_id = $1 AND ${visible}`];
  const ofFilters = Object.entries<(typeof filters)[Name]>(filters).flatMap(([filter, { counter }]) => {
    if (!counter || counter.key === null) return [];
    const { table, key, counted = rows, shown = key } = counter;
    return [{ filter, table, keys: [key, ...cell], cell, counted, shown: `(${shown})::text` }];
  });
  return [{ filter: null, table: cells.counter, keys: cell, cell, counted: rows, shown: 'NULL' }, ...ofFilters];
}

/** Two concurrent repairs would correct the same difference twice. Released at the end of the transaction. */
const TAKE_TURNS = `SELECT pg_advisory_xact_lock(hashtextextended($2 || ' ' || $1, 0))`;

/**
 * Compares a counter with a full count and adds the differences, in one statement and so one snapshot. Concurrent changes
 * alter rows and counts alike, so a difference stays correct. No count is locked until all are compared, and then in the
 * order of the keys, like in the triggers.
 */
async function repair(
  database: Database,
  workspaceId: WorkspaceId,
  { filter, table, keys: columns, cell, counted, shown }: Counter,
): Promise<WrongCounter[]> {
  const keys = columns.join(', ');
  const rows = await database.inTenant({ workspaceId }, async (manager) => {
    await manager.query(TAKE_TURNS, [workspaceId, table]);
    return manager.query<Omit<WrongCounter, 'filter'>[]>(
      `WITH compared AS (
         SELECT ${keys}, sum(actual) AS actual, sum(counted) AS counted FROM (
           SELECT ${keys}, count(*) AS actual, 0 AS counted FROM ${counted} GROUP BY ${keys}
           UNION ALL SELECT ${keys}, 0, n FROM ${table} WHERE workspace_id = $1) AS counts
          GROUP BY ${keys} HAVING sum(actual) <> sum(counted)
       ), repaired AS (
         INSERT INTO ${table} AS kept (workspace_id, ${keys}, n)
         SELECT $1::uuid, ${keys}, actual - counted FROM compared ORDER BY ${keys}
             ON CONFLICT (workspace_id, ${keys}) DO UPDATE SET n = kept.n + excluded.n)
       SELECT ${shown} AS value, ARRAY[${cell.join(', ')}] AS cell, counted::float8, actual::float8
         FROM compared ORDER BY ${keys}`,
      [workspaceId],
    );
  });
  return rows.map((row) => ({ filter, ...row }));
}
