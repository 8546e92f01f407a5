import type { WorkspaceId } from '#libs/kernel';
import type { Database } from '#libs/platform/database';
import type { EntityManager } from 'typeorm';

const BATCH = 1_000;

interface Table {
  readonly name: string;
  /** Columns of the primary key, as SQL. */
  readonly key: string;
  /** The same as an array of texts, and such an array in `$2` as a row. */
  readonly key_texts: string;
  readonly given_key: string;
  /** Tables that its foreign keys name. Those of other workspaces' rows are none. */
  readonly refers: readonly string[];
  /** Finds the rows that refer to a row of the same table, if they can: an employee owns assets. */
  readonly referrers: string | null;
}

/** The catalog knows the tables of every feature, and those of older releases. */
const TABLES = `
  SELECT class.oid::regclass::text AS name, key, format('ARRAY[%s]', texts) AS key_texts, format('(%s)', given) AS given_key,
         ARRAY (SELECT confrelid::regclass::text FROM pg_constraint
                 WHERE contype = 'f' AND conrelid = class.oid AND confrelid <> class.oid) AS refers,
         (SELECT string_agg(format('other.%I = one.%I', its.attname, named.attname), ' AND ')
            FROM pg_constraint, unnest(conkey, confkey) AS pair (its_number, named_number), pg_attribute AS its,
                 pg_attribute AS named
           WHERE contype = 'f' AND conrelid = class.oid AND confrelid = class.oid
             AND its.attrelid = class.oid AND its.attnum = its_number
             AND named.attrelid = class.oid AND named.attnum = named_number) AS referrers
    FROM pg_class AS class JOIN pg_attribute AS tenant ON attrelid = class.oid AND attname = 'workspace_id'
   CROSS JOIN LATERAL (
     SELECT string_agg(quote_ident(own.attname), ', ' ORDER BY place) AS key,
            string_agg(quote_ident(own.attname) || '::text', ', ' ORDER BY place) AS texts,
            string_agg(format('($2::text[])[%s]::%s', place, format_type(own.atttypid, own.atttypmod)), ', ' ORDER BY place) AS given
       FROM pg_index, unnest(indkey) WITH ORDINALITY AS part (number, place), pg_attribute AS own
      WHERE indrelid = class.oid AND indisprimary AND own.attrelid = class.oid AND own.attnum = number) AS keys
   WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace
   ORDER BY name`;

/** One workspace's rows in all tables with a `workspace_id`. For operators only. */
export class WorkspaceRows {
  constructor(
    private readonly database: Database,
    private readonly workspaceId: WorkspaceId,
    private readonly batch = BATCH,
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
    const run = async (statement: string, values: unknown[]): Promise<Batch> => {
      const [batch = { n: 0, last: null }] = await this.inTransaction((manager) =>
        manager.query<Batch[]>(statement, [this.workspaceId, ...values]),
      );
      deleted += batch.n;
      if (batch.n > 0) onProgress(deleted);
      return batch;
    };
    /** Each batch begins behind the one before, so that rows that stay are looked at once. */
    const walk = async (table: Table): Promise<void> => {
      const statement = batchOf(table, this.batch);
      let batch: Batch = { n: 0, last: null };
      do batch = await run(statement, [batch.last]);
      while (batch.n === this.batch);
    };
    // Triggers and late writers may add rows to tables that were empty already.
    for (let before = -1; before !== deleted;) {
      before = deleted;
      for (const table of tables) {
        if (table.referrers === null) await walk(table);
        else {
          // Whoever owned something owns nothing in the next walk.
          for (let left = -1; left !== deleted;) {
            left = deleted;
            await walk(table);
          }
          // Rows that refer to each other.
          await run(counting(`DELETE FROM ${table.name} WHERE workspace_id = $1 RETURNING 1`, 'NULL'), []);
        }
      }
    }
  }

  private inTransaction<Result>(work: (manager: EntityManager) => Promise<Result>): Promise<Result> {
    return this.database.inTenant({ workspaceId: this.workspaceId }, work);
  }
}

/**
 * Tables that are tied to none come first: whoever works in the workspace, such as an import, finds its own row gone. Then
 * a table comes before those that it refers to. Counters, which triggers write, have no references and come last.
 */
function inOrderOfDeletion(tables: readonly Table[]): Table[] {
  const names = new Set(tables.map(({ name }) => name));
  const isTied = ({ name, refers, referrers }: Table): boolean =>
    referrers !== null || refers.some((to) => names.has(to)) || tables.some((other) => other.refers.includes(name));
  const placeOf = (table: Table): number => (isTied(table) ? 1 : table.refers.length > 0 ? 0 : 2);
  const waiting = [...tables].sort((one, other) => placeOf(one) - placeOf(other));
  const ordered: Table[] = [];
  while (waiting.length > 0) {
    const free = waiting.findIndex(({ name }) => !waiting.some(({ refers }) => refers.includes(name)));
    ordered.push(...waiting.splice(Math.max(0, free), 1));
  }
  return ordered;
}

interface Batch {
  readonly n: number;
  /** The key of its last row. Null where it has none. */
  readonly last: readonly string[] | null;
}

const counting = (statement: string, last: string): string =>
  `WITH gone AS (${statement}) SELECT (SELECT count(*) FROM gone)::int AS n, ${last} AS last`;

/** The next rows in the order of the key that no row of the same table refers to. $2 the key of the last row before. */
function batchOf({ name, key, key_texts: texts, given_key: given, referrers }: Table, size: number): string {
  const free = referrers === null ? '' : `AND NOT EXISTS (SELECT FROM ${name} AS other WHERE ${referrers})`;
  return counting(
    `DELETE FROM ${name} WHERE workspace_id = $1 AND (${key}) IN (
       SELECT ${key} FROM ${name} AS one
        WHERE workspace_id = $1 AND ($2::text[] IS NULL OR (${key}) > ${given}) ${free} ORDER BY ${key} LIMIT ${size})
     RETURNING ${key}`,
    `(SELECT ${texts} FROM gone ORDER BY ${key} DESC LIMIT 1)`,
  );
}
