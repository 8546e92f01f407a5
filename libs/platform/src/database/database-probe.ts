import { Pool } from 'pg';

/** A prober waits for three seconds (docker/); it should hear why, rather than nothing. */
const CONNECT_MS = 1_000;
const ANSWER_MS = 1_500;

/**
 * One connection to the primary apart from the pool, for asking whether Postgres is there: requests that take all the
 * others must not make it look lost, or load would take replicas away just when they are needed.
 */
export class DatabaseProbe {
  private readonly pool: Pool;

  constructor(url: string) {
    this.pool = new Pool({
      connectionString: url,
      max: 1,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: ANSWER_MS,
      options: `-c statement_timeout=${ANSWER_MS}ms`,
      application_name: 'compliance-api',
      keepAlive: true,
    });
    // The next question finds out by itself.
    this.pool.on('error', () => undefined);
  }

  /** Names of the migrations that were applied. Throws what Postgres says, or that it says nothing. */
  async appliedMigrations(): Promise<string[]> {
    const { rows } = await this.pool.query<{ name: string }>('SELECT name FROM migration');
    return rows.map(({ name }) => name);
  }

  async close(): Promise<void> {
    await this.pool.end();
  }
}
