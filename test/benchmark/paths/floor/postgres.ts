import { Pool, type PoolClient, type QueryConfig, escapeLiteral } from 'pg';
import type { Row } from './items';
import { PREPARED } from './update-statements';

/** Sessions like the API's: one index-based plan for every value. */
export const pool = new Pool({
  connectionString: process.env['DATABASE_URL'] as string,
  max: 10,
  options: '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off',
});

const AS_SENT = { rowMode: 'array', types: { getTypeParser: () => (value: string) => value } } as const;

/** Connections that have {@link PREPARED}. */
const prepared = new WeakSet<PoolClient>();

export type Value = string | number | null;

const literal = (value: Value): string => (value === null ? 'NULL' : escapeLiteral(String(value)));

/** Returns the text of an EXECUTE of a prepared statement. */
export const call = (name: keyof typeof PREPARED, ...values: readonly Value[]): string =>
  values.length === 0 ? `EXECUTE ${name}` : `EXECUTE ${name}(${values.map(literal).join(', ')})`;

/** Returns rows as Postgres sends them: arrays of text. */
export async function rowsOf(statement: QueryConfig, values: readonly (string | null)[]): Promise<Row[]> {
  const { rows } = await pool.query<(string | null)[]>({ values: [...values], ...statement, ...AS_SENT });
  return rows;
}

/** Sends several statements in one message, hence one round trip. Returns the rows of each. */
export async function runTogether(
  client: PoolClient,
  statements: readonly string[],
): Promise<readonly (readonly (string | null)[][])[]> {
  const results: unknown = await client.query({ text: statements.join(';'), ...AS_SENT });
  return (Array.isArray(results) ? results : [results]).map(({ rows }: { rows: (string | null)[][] }) => rows);
}

/** Runs `work` on its own connection. Rolls its transaction back when it throws. */
export async function onConnection<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  try {
    if (!prepared.has(client)) {
      await client.query(
        Object.entries(PREPARED)
          .map(([name, { types, text }]) => `PREPARE ${name}${types} AS ${text}`)
          .join(';'),
      );
      prepared.add(client);
    }
    const result = await work(client);
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  }
}
