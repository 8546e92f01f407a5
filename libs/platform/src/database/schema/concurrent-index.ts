import type { QueryRunner } from 'typeorm';

/**
 * Builds an index while its table goes on being read and written, for a migration with `transaction = false`.
 * `definition` is what follows ON: `asset (workspace_id, name)`. What an attempt that failed has left is removed first.
 * It blocks nobody, but waits for every transaction that was there before it, an import's too, however long.
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
