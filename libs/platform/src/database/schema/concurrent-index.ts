import type { QueryRunner } from 'typeorm';

/**
 * Builds an index while its table stays readable and writable. For migrations with `transaction = false`. `definition`
 * is the SQL after ON: `asset (workspace_id, name)`.
 * Keeps an index that an earlier attempt completed, and removes the remains of one that failed. Blocks nobody, but waits
 * for every older transaction, however long it runs; an import's, too.
 */
export async function buildIndexConcurrently(runner: QueryRunner, name: string, definition: string): Promise<void> {
  const complete = 'SELECT FROM pg_index WHERE indexrelid = to_regclass($1) AND indisvalid';
  const found = (await runner.query(complete, [name])) as unknown[];
  if (found.length > 0) return;
  await runner.query('SET lock_timeout = 0');
  try {
    await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
    await runner.query(`CREATE INDEX CONCURRENTLY ${name} ON ${definition}`);
  } finally {
    await runner.query('RESET lock_timeout');
  }
}
