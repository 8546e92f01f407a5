import { setTimeout as delay } from 'node:timers/promises';
import type { Client, Pool } from 'pg';
import { type FaultSetting } from './fault-setting';

const COMMIT_LOCK = 4_711;

/** A lock that stops a transaction of the API at a known point until it is released. */
export class HeldLock {
  private static readonly held = new Set<HeldLock>();

  /** Call it after each test: a failed test must not block others. */
  static async releaseAll(): Promise<void> {
    await Promise.all([...HeldLock.held].map((lock) => lock.release()));
  }

  private constructor(
    private readonly holder: Client,
    private readonly admin: Pool,
  ) {
    HeldLock.held.add(this);
  }

  /** Stops at the asset's row, before anything has changed. */
  static async onAsset(setting: FaultSetting, asset: string): Promise<HeldLock> {
    const holder = await setting.newConnection();
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM asset WHERE public_id = $1 FOR UPDATE', [asset]);
    return new HeldLock(holder, setting.admin);
  }

  /** Stops every reader and writer of a table. */
  static async onTable(setting: FaultSetting, table: string): Promise<HeldLock> {
    const holder = await setting.newConnection();
    await holder.query('BEGIN');
    await holder.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    return new HeldLock(holder, setting.admin);
  }

  /** Stops within COMMIT, after all writes and before any takes effect. Needs `armCommits`. */
  static async onCommits(setting: FaultSetting): Promise<HeldLock> {
    const holder = await setting.newConnection();
    await holder.query('BEGIN');
    await holder.query('SELECT pg_advisory_xact_lock($1)', [COMMIT_LOCK]);
    return new HeldLock(holder, setting.admin);
  }

  /** Makes each transaction that writes a record ask for the lock of `onCommits` within its COMMIT. */
  static async armCommits(setting: FaultSetting): Promise<void> {
    await setting.admin.query(`
      CREATE FUNCTION wait_in_commit() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_advisory_xact_lock_shared(${COMMIT_LOCK});
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER wait_in_commit AFTER INSERT ON idempotency_record
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_in_commit();
    `);
  }

  /** Resolves when a transaction of the API waits for a lock. */
  async isWaitedFor(): Promise<void> {
    for (const deadline = Date.now() + 60_000; (await lockWaits(this.admin)) === 0; await delay(5)) {
      if (Date.now() > deadline) throw new Error('no transaction of the API came to the lock');
    }
  }

  async release(): Promise<void> {
    HeldLock.held.delete(this);
    await this.holder.query('ROLLBACK');
    await this.holder.end();
  }
}

/** Counts the API's connections that wait for a lock. */
export async function lockWaits(admin: Pool): Promise<number> {
  return countConnections(admin, `wait_event_type = 'Lock'`);
}

/** Counts the API's connections that are active or in a transaction. */
export async function busyConnections(admin: Pool): Promise<number> {
  return countConnections(admin, `state <> 'idle'`);
}

async function countConnections(admin: Pool, condition: string): Promise<number> {
  const { rows } = await admin.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'compliance-api' AND ${condition}`,
  );
  return rows[0]?.n ?? 0;
}
