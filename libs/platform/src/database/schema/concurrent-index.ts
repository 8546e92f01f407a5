import type { QueryRunner } from 'typeorm';

/**
 * Builds an index while its table stays readable and writable. For migrations with `transaction = false`. `definition`
 * is the SQL after ON: `asset (workspace_id, name)`.
 * Removes the remains of a failed attempt first. Blocks nobody, but waits for every older transaction, however long it
 * runs; an import's, too.
 */
export async function buildIndexConcurrently(
  runner: QueryRunner,
  name: string,
  definition: string,
  { unique = false }: { readonly unique?: boolean } = {},
): Promise<void> {
  await runner.query('SET lock_timeout = 0');
  try {
    await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
    await runner.query(`CREATE ${unique ? 'UNIQUE ' : ''}INDEX CONCURRENTLY ${name} ON ${definition}`);
  } finally {
    await runner.query('RESET lock_timeout');
  }
}
