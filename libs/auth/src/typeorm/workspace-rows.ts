import type { WorkspaceId } from '#libs/kernel';
import type { Database } from '#libs/platform/database';
import type { EntityManager } from 'typeorm';

const BATCH = 1_000;

interface Table {
  readonly name: string;
  /** Columns of the primary key, as SQL. */
  readonly key: string;
  /** Tables that its foreign keys name. Those of other workspaces' rows are none. */
  readonly refers: readonly string[];
  /** Finds the rows that refer to a row of the same table, if they can: an employee owns assets. */
  readonly referrers: string | null;
}

/** The catalog knows the tables of every feature, and those of older releases. */
const TABLES = `
  SELECT class.oid::regclass::text AS name,
         (SELECT string_agg(quote_ident(attname), ', ' ORDER BY place)
            FROM pg_index, unnest(indkey) WITH ORDINALITY AS part (number, place), pg_attribute
           WHERE indrelid = class.oid AND indisprimary AND attrelid = class.oid AND attnum = number) AS key,
         ARRAY (SELECT confrelid::regclass::text FROM pg_constraint
                 WHERE contype = 'f' AND conrelid = class.oid AND confrelid <> class.oid) AS refers,
         (SELECT string_agg(format('other.%I = one.%I', its.attname, named.attname), ' AND ')
            FROM pg_constraint, unnest(conkey, confkey) AS pair (its_number, named_number), pg_attribute AS its,
                 pg_attribute AS named
           WHERE contype = 'f' AND conrelid = class.oid AND confrelid = class.oid
             AND its.attrelid = class.oid AND its.attnum = its_number
             AND named.attrelid = class.oid AND named.attnum = named_number) AS referrers
    FROM pg_class AS class JOIN pg_attribute AS tenant ON attrelid = class.oid AND attname = 'workspace_id'
   WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace
   ORDER BY name`;

/** One workspace's rows in all tables with a `workspace_id`. For operators only. */
export class WorkspaceRows {
  constructor(
    private readonly database: Database,
    private readonly workspaceId: WorkspaceId,
  ) {}

  /** Counts the rows of each table, without the empty ones. */
  async counts(): Promise<Record<string, number>> {
    return this.inTransaction(async (manager) => {
      const counts: Record<string, number> = {};
      for (const { name } of await manager.query<Table[]>(TABLES)) {
        const counted = `SELECT count(*) AS n FROM ${name} WHERE workspace_id = $1`;
        const [row] = await manager.query<{ n: string }[]>(counted, [this.workspaceId]);
        if (row && row.n !== '0') counts[name] = Number(row.n);
      }
      return counts;
    });
  }

  /**
   * Deletes the rows of all tables but these, in batches, until nothing is left. `onProgress` gets the number of deleted
   * rows after each batch, and may throw to stop. What is deleted stays deleted.
   */
  async delete(kept: readonly string[], onProgress: (deleted: number) => void): Promise<void> {
    const found = await this.inTransaction((manager) => manager.query<Table[]>(TABLES));
    const tables = inOrderOfDeletion(found.filter(({ name }) => !kept.includes(name)));
    // With statistics of before the rows came, Postgres would find the whole batch again for each row. A migration or a
    // vacuum that holds a table is not waited for.
    for (const { name } of tables)
      await this.inTransaction((manager) => manager.query(`ANALYZE (SKIP_LOCKED) ${name}`));
    let deleted = 0;
    // Triggers and late writers may add rows to tables that were empty already.
    for (let before = -1; before !== deleted;) {
      before = deleted;
      for (const statement of tables.flatMap(deletions)) {
        for (let batch = BATCH; batch >= BATCH;) {
          batch = await this.run(statement);
          deleted += batch;
          if (batch > 0) onProgress(deleted);
        }
      }
    }
  }

  private async run(statement: string): Promise<number> {
    const text = `WITH gone AS (${statement} RETURNING 1) SELECT count(*) AS n FROM gone`;
    const [row] = await this.inTransaction((manager) => manager.query<{ n: string }[]>(text, [this.workspaceId]));
    return Number(row?.n);
  }

  private inTransaction<Result>(work: (manager: EntityManager) => Promise<Result>): Promise<Result> {
    return this.database.inTenant({ workspaceId: this.workspaceId }, work);
  }
}

/** A table comes before those that it refers to. Counters, which triggers write, have no references and come last. */
function inOrderOfDeletion(tables: readonly Table[]): Table[] {
  const names = new Set(tables.map(({ name }) => name));
  const isTied = ({ name, refers, referrers }: Table): boolean =>
    referrers !== null || refers.some((to) => names.has(to)) || tables.some((other) => other.refers.includes(name));
  const waiting = [...tables.filter(isTied), ...tables.filter((table) => !isTied(table))];
  const ordered: Table[] = [];
  while (waiting.length > 0) {
    const free = waiting.findIndex(({ name }) => !waiting.some(({ refers }) => refers.includes(name)));
    ordered.push(...waiting.splice(Math.max(0, free), 1));
  }
  return ordered;
}

/** One batch of rows that no row of the same table refers to. Then the rest at once: rows that refer to each other. */
function deletions({ name, key, referrers }: Table): string[] {
  const batch = (condition: string): string => `
    DELETE FROM ${name} WHERE workspace_id = $1 AND (${key}) IN (
      SELECT ${key} FROM ${name} AS one WHERE workspace_id = $1 ${condition} ORDER BY ${key} LIMIT ${BATCH})`;
  if (referrers === null) return [batch('')];
  return [
    batch(`AND NOT EXISTS (SELECT FROM ${name} AS other WHERE ${referrers})`),
    `DELETE FROM ${name} WHERE workspace_id = $1`,
  ];
}
