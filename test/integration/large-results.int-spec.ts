import { setTimeout as delay } from 'node:timers/promises';
import { type BoundStatement, Database, RowBudget } from '#libs/platform/database';
import type { DataSource } from 'typeorm';
import { openDataSource } from '../support/database-connection';
import { type TestDatabase, createTestDatabase } from '../support/test-database';
import { until } from '../support/until';

const LENGTH = 3_000_000;
const SCOPE = { outsideTenants: true } as const;
const statement = (name: string, text: string, budget?: RowBudget): BoundStatement => ({
  name,
  text,
  values: [],
  budget,
});
const LARGE = statement('large', `SELECT repeat('x', ${LENGTH})`);
const SMALL = statement('small', 'SELECT 1');
const SLEEP = statement('sleep', 'SELECT pg_sleep(60)');

describe('Large results of Postgres', () => {
  let testDatabase: TestDatabase;
  let dataSource: DataSource;
  let database: Database;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    dataSource = await openDataSource(testDatabase.databaseUrl, 5);
    database = new Database(dataSource);
  });
  afterAll(async () => {
    await dataSource.destroy();
    await testDatabase.drop();
  });

  it('arrive whole, however many are read at once', async () => {
    const all = await Promise.all(Array.from({ length: 10 }, () => database.read(SCOPE, [LARGE])));

    expect(all.map(([rows]) => rows?.[0]?.[0]?.length)).toEqual(all.map(() => LENGTH));
  });

  it('wait until another one has failed, and small ones do not wait', async () => {
    const ended: string[] = [];
    const sleeping = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`;
    const failing = database.read(SCOPE, [LARGE, SLEEP]).catch(() => ended.push('failed'));
    await until(async () => (await testDatabase.admin.query(sleeping)).rowCount === 1);
    // So much time is left to the other one once it has failed.
    await delay(1_000);

    const large = database.read(SCOPE, [LARGE]).then(() => ended.push('large'));
    await database.read(SCOPE, [SMALL]).then(() => ended.push('small'));
    await Promise.all([failing, large]);

    expect(ended).toEqual(['small', 'failed', 'large']);
  });

  it.each([
    [102, 102],
    [103, 8],
    [1_001, 8],
  ])('of up to %i rows arrive in a first portion of %i', async (most, first) => {
    const text = `SELECT repeat('x', 1000000) FROM generate_series(1, ${most})`;
    const arrived = jest.spyOn(RowBudget.prototype, 'takes');

    const rowsOfMegabytes = statement(`rows ${most}`, text, new RowBudget(most, 2_000_000));
    const [rows] = await database.read(SCOPE, [rowsOfMegabytes]);

    expect([rows?.length, arrived.mock.calls.length]).toEqual([2, first]);
    arrived.mockRestore();
  });

  it('come to one unit of work at a time, also after one that fails', async () => {
    const told: string[] = [];
    const unit = (name: string) =>
      database.unitOfWork(SCOPE, async () => {
        await database.run(SCOPE, [SMALL]);
        const [rows] = await database.run(SCOPE, [LARGE], { isLarge: true });
        told.push(name);
        await delay(50);
        told.push(name);
        if (name === 'b') throw new Error(`It read ${rows?.[0]?.[0]?.length} characters.`);
        await database.run(SCOPE, [LARGE], { isLarge: true });
      });

    const ended = await Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map(unit));

    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
    expect(told.join('')).toMatch(/^(?:(.)\1){5}$/);
  });

  it('are refused to a unit of work that waits too long for its turn', async () => {
    let end = (): void => undefined;
    const over = new Promise<void>((resolve) => (end = resolve));
    const large = () => database.run(SCOPE, [LARGE], { isLarge: true });
    const first = database.unitOfWork(SCOPE, () => large().then(() => over));
    const deadline = performance.now() + 300;
    await expect(database.unitOfWork(SCOPE, large, { deadline })).rejects.toThrow('Other large updates');
    end();
    await first;
    await database.unitOfWork(SCOPE, large);
  });
});
