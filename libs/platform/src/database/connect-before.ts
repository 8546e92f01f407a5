import type { Pool, PoolClient } from 'pg';

/** A connection of the pool, or as the pool itself does an error that none was had, by `deadline` at the latest. */
export function connectBefore(pool: Pool, deadline: number): Promise<PoolClient> {
  const left = deadline - performance.now();
  const connected = pool.connect();
  if (left >= (pool.options.connectionTimeoutMillis || Infinity)) return connected;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error('timeout exceeded when trying to connect'));
      connected.then(
        (client) => client.release(),
        () => undefined,
      );
    }, left);
    connected.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
