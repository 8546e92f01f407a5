import { setTimeout as delay } from 'node:timers/promises';
import type { TestDatabase } from './test-database';

/** Ends sessions that wait for a lock, one after the other, until `count` are ended. */
export async function endWaiting({ admin }: TestDatabase, count: number): Promise<void> {
  for (let ended = 0; ended < count; await delay(10)) {
    // Within a transaction, statistics would otherwise stay unchanged.
    await admin.query('SELECT pg_stat_clear_snapshot()');
    const { rowCount } = await admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'compliance-api' AND wait_event_type = 'Lock'`,
    );
    ended += rowCount ?? 0;
  }
}

/** Resolves once a session waits for a lock, or so many do. */
export async function someoneWaits({ admin }: TestDatabase, sessions = 1): Promise<void> {
  const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  while (((await admin.query(waiting)).rowCount ?? 0) < sessions) {
    await delay(10);
    // Within a transaction, statistics would otherwise stay unchanged.
    await admin.query('SELECT pg_stat_clear_snapshot()');
  }
}
