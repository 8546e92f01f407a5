import { Pool } from 'pg';

/** Probes wait three seconds (docker/). They should receive the reason, not a timeout. */
const CONNECT_MS = 1_000;
const RESPONSE_MS = 1_500;

/**
 * Checks Postgres on a connection of its own. Requests may use the whole pool; that must not fail the probe, or load
 * would remove instances just when they are needed.
 */
export class DatabaseProbe {
  private readonly pool: Pool;

  constructor(url: string) {
    this.pool = new Pool({
      connectionString: url,
      max: 1,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: RESPONSE_MS,
      options: `-c statement_timeout=${RESPONSE_MS}ms`,
      application_name: 'compliance-api',
      keepAlive: true,
    });
    // The next query notices the loss.
    this.pool.on('error', () => undefined);
  }

  /** Names of the applied migrations. @throws when Postgres refuses or stays silent */
  async appliedMigrations(): Promise<string[]> {
    const { rows } = await this.pool.query<{ name: string }>('SELECT name FROM migration');
    return rows.map(({ name }) => name);
  }

  async close(): Promise<void> {
    await this.pool.end();
  }
}
