import { setTimeout as delay } from 'node:timers/promises';
import type { QueryRunner } from 'typeorm';

/** Held for the whole run, so that concurrent deployments take turns. */
const MIGRATION_LOCK = 7_204_716_105_331n;

interface Holder {
  readonly pid: number;
  readonly user: string | null;
  readonly application: string | null;
  readonly address: string | null;
  readonly since: Date | null;
}

/** Null when the lock was just released. Postgres shows some columns to superusers only; they are null for others. */
const HOLDER = `
  SELECT pid, usename AS user, application_name AS application, host(client_addr) AS address, backend_start AS since
    FROM pg_locks LEFT JOIN pg_stat_activity USING (pid)
   WHERE locktype = 'advisory' AND granted AND objsubid = 1
     AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
     AND (classid::int8 << 32 | objid::int8) = $1`;

/**
 * Waits until no other migration of this database runs. None can start before the connection is closed. `onWait` is
 * called once with a sentence that names the holder.
 *
 * Polls instead of waiting in Postgres. A waiting statement holds a snapshot, and a concurrent index build would wait
 * for that snapshot to end: a deadlock.
 */
export async function takeTurn(connection: QueryRunner, onWait?: (reason: string) => void): Promise<void> {
  for (let told = false; ; await delay(100)) {
    const [{ taken }] = (await connection.query('SELECT pg_try_advisory_lock($1) AS taken', [MIGRATION_LOCK])) as [
      { taken: boolean },
    ];
    if (taken) return;
    const [holder] = told ? [] : ((await connection.query(HOLDER, [MIGRATION_LOCK])) as Holder[]);
    if (!holder) continue;
    onWait?.(`Waiting for another migration of this database, which ${describe(holder)} runs.`);
    told = true;
  }
}

function describe({ pid, user, application, address, since }: Holder): string {
  const parts = [
    application ? [application] : [],
    user === null ? [] : [`as ${user}`],
    address === null ? [] : [`from ${address}`],
    since === null ? [] : [`since ${since.toISOString()}`],
  ].flat();
  return `process ${pid} of Postgres${parts.length > 0 ? ` (${parts.join(', ')})` : ''}`;
}
