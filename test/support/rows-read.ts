import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';

/**
 * The rows that statements have read of these tables and of their indexes. A connection reports them when it ends.
 */
export async function rowsRead(admin: Pool, ...tables: string[]): Promise<number> {
  const { rows } = await admin.query<{ n: string }>(
    `SELECT sum(n) AS n FROM (SELECT seq_tup_read AS n, relname FROM pg_stat_user_tables
                    UNION ALL SELECT idx_tup_read, relname FROM pg_stat_user_indexes) AS reads
      WHERE relname = ANY ($1)`,
    [tables],
  );
  return Number(rows[0]?.n);
}

/** The same with what the one connection of the reader has read so far. */
export async function rowsReadBy(reader: DataSource, admin: Pool, ...tables: string[]): Promise<number> {
  await reader.query('SELECT pg_stat_force_next_flush()');
  return rowsRead(admin, ...tables);
}
