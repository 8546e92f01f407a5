import { setTimeout as delay } from 'node:timers/promises';
import type { QueryRunner } from 'typeorm';

/** Held for the whole run, so that concurrent deployments take turns. */
const MIGRATION_LOCK = 7_204_716_105_331n;

/**
 * Waits until no other migration of this database runs. None can start before the connection is closed. `onWait` is
 * called once with a sentence.
 *
 * Polls instead of waiting in Postgres. A waiting statement holds a snapshot, and a concurrent index build would wait
 * for that snapshot to end: a deadlock.
 */
export async function takeMigrationLock(connection: QueryRunner, onWait?: (reason: string) => void): Promise<void> {
  for (let told = false; ; await delay(100)) {
    const [{ taken }] = (await connection.query('SELECT pg_try_advisory_lock($1) AS taken', [MIGRATION_LOCK])) as [
      { taken: boolean },
    ];
    if (taken) return;
    if (!told) onWait?.('Waiting for another migration of this database.');
    told = true;
  }
}
