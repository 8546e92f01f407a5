import type { WorkspaceId } from '#libs/kernel';
import type { Database } from './database';

/** Counts that triggers keep, with the query that counts anew. */
export interface KeptCounts {
  readonly table: string;
  /** The columns of the key, separated by commas. */
  readonly keys: string;
  /** Selects `keys`, and `n` as their number in workspace $1. */
  readonly actual: string;
  /** What the operator sees of a key. */
  readonly shown: string;
  /** True where the table has one row for each key. Elsewhere a count is the sum of its rows. */
  readonly hasOneRow?: boolean;
}

/** A count that differed. */
export interface WrongCount {
  readonly counted: number;
  readonly actual: number;
}

/** Two concurrent repairs would correct the same difference twice. Released at the end of the transaction. */
const TAKE_TURNS = `SELECT pg_advisory_xact_lock(hashtextextended($2 || ' ' || $1, 0))`;

/**
 * Compares counts with a full count and adds the differences, in one statement and so one snapshot. Concurrent changes
 * alter rows and counts alike, so a difference stays correct. No count is locked until all are compared, and then in the
 * order of the keys, like in the triggers. Returns the counts that were wrong.
 */
export async function reconcileCounts<Shown>(
  database: Database,
  workspaceId: WorkspaceId,
  { table, keys, actual, shown, hasOneRow = false }: KeptCounts,
): Promise<(Shown & WrongCount)[]> {
  const conflict = hasOneRow ? `ON CONFLICT (workspace_id, ${keys}) DO UPDATE SET n = kept.n + excluded.n` : '';
  return database.inTenant({ workspaceId }, async (manager) => {
    await manager.query(TAKE_TURNS, [workspaceId, table]);
    return manager.query<(Shown & WrongCount)[]>(
      `WITH compared AS (
         SELECT ${keys}, sum(actual) AS actual, sum(counted) AS counted FROM (
           SELECT ${keys}, n AS actual, 0 AS counted FROM (${actual}) AS there
           UNION ALL SELECT ${keys}, 0, n FROM ${table} WHERE workspace_id = $1) AS counts
          GROUP BY ${keys} HAVING sum(actual) <> sum(counted)
       ), repaired AS (
         INSERT INTO ${table} AS kept (workspace_id, ${keys}, n)
         SELECT $1::uuid, ${keys}, actual - counted FROM compared ORDER BY ${keys} ${conflict})
       SELECT ${shown}, counted::float8, actual::float8 FROM compared ORDER BY ${keys}`,
      [workspaceId],
    );
  });
}

const BATCH = 2_000;

/**
 * Repairs rows that triggers keep. `find` selects the ids of wrong ones in workspace $1. The other statements repair those
 * of a batch, which are $2. `onBatch` is called before each transaction and may throw to stop. Returns how many were wrong.
 */
export async function repairRows(
  database: Database,
  workspaceId: WorkspaceId,
  [find, ...repairs]: readonly [find: string, ...repairs: string[]],
  onBatch: () => void = () => undefined,
): Promise<number> {
  onBatch();
  const wrong = await database.inTenant({ workspaceId }, (manager) =>
    manager.query<{ id: string }[]>(find, [workspaceId]),
  );
  for (let start = 0; start < wrong.length; start += BATCH) {
    onBatch();
    const values = [workspaceId, wrong.slice(start, start + BATCH).map(({ id }) => id)];
    await database.inTenant({ workspaceId }, async (manager) => {
      for (const statement of repairs) await manager.query(statement, values);
    });
  }
  return wrong.length;
}
