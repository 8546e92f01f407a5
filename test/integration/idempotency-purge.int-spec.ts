import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { Database } from '#libs/platform/database';
import { IdempotencyPurge } from '#libs/platform/idempotency';
import { openDataSource } from '../support/database-connection';
import { type TestDatabase, createTestDatabase } from '../support/test-database';

describe('The purge of idempotency records', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let purge: IdempotencyPurge;
  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await openDataSource(database.databaseUrl, 2);
    purge = new IdempotencyPurge(new Database(dataSource));
  });
  beforeEach(() => database.admin.query('TRUNCATE idempotency_record'));
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  /** Creates one record in each of `count` workspaces, all expired or all live. */
  const records = async (count: number, expires: 'in the past' | 'in the future'): Promise<void> => {
    await database.admin.query(
      `INSERT INTO idempotency_record (workspace_id, application_id, key_hash, fingerprint, status, body, expires_at)
       SELECT gen_random_uuid(), gen_random_uuid(), sha256('k'), '', 200, '{}', now() + $2::interval
         FROM generate_series(1, $1)`,
      [count, expires === 'in the past' ? '-1 second' : '1 hour'],
    );
  };
  const left = async (): Promise<number> =>
    (await database.admin.query('SELECT 1 FROM idempotency_record')).rows.length;

  it('removes expired records of every workspace in batches, and no others', async () => {
    await records(2_500, 'in the past');
    await records(10, 'in the future');
    const batches: number[] = [];
    expect(await purge.run('wait', (purged) => batches.push(purged))).toBe(2_500);
    expect([batches, await left()]).toEqual([[1_000, 2_000, 2_500], 10]);
  });

  it('keeps a record that was used again while the purge waited for it', async () => {
    await records(3, 'in the past');
    const { admin } = database;
    await admin.query('BEGIN');
    await admin.query(
      `UPDATE idempotency_record SET expires_at = now() + interval '1 hour'
        WHERE workspace_id = (SELECT workspace_id FROM idempotency_record LIMIT 1)`,
    );
    const purging = purge.run('wait');
    await delay(150);
    await admin.query('COMMIT');
    expect([await purging, await left()]).toEqual([2, 1]);
  });

  it('removes nothing while the clocks of Postgres and of the process are hours apart', async () => {
    await records(3, 'in the past');
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() - 7_200_000);
    try {
      await expect(purge.run('wait')).rejects.toThrow('The clock of Postgres');
    } finally {
      clock.mockRestore();
    }
    expect(await left()).toBe(3);
  });

  it('runs once at a time: others leave or wait', async () => {
    await records(5, 'in the past');
    const { admin } = database;
    await admin.query('BEGIN');
    await admin.query(`SELECT pg_advisory_xact_lock(hashtextextended('purge_idempotency_records', 0))`);
    expect([await purge.run('leave'), await left()]).toEqual([0, 5]);
    const waiting = purge.run('wait');
    await delay(150);
    await admin.query('COMMIT');
    expect([await waiting, await left()]).toEqual([5, 0]);
  });

  it('runs by itself while the API serves, and stops with it', async () => {
    const worker = new IdempotencyPurge(new Database(dataSource), 20);
    await worker.onApplicationBootstrap();
    for (let round = 0; round < 2; round += 1) {
      await records(3, 'in the past');
      while ((await left()) > 0) await delay(10);
    }
    await worker.beforeApplicationShutdown();
    await records(3, 'in the past');
    await delay(100);
    expect(await left()).toBe(3);
  });
});
