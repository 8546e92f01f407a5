import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { workspaceId } from '#libs/kernel';
import { type BoundStatement, Database, poolOf } from '#libs/platform/database';
import { DataSource, type DataSourceOptions, type EntityManager } from 'typeorm';
import { ConnectionPool } from '../../libs/platform/src/database/connections/connection-pool';
import { dataSourceOptions } from '../../libs/platform/src/database/connections/data-source';
import { databaseIsUnavailable } from '../../libs/platform/src/database/connections/database-fault';
import { type DatabaseBehindProxy, openDatabaseBehindProxy } from '../support/database-behind-proxy';
import { IdempotencyRecordRow } from '../../libs/platform/src/idempotency/records/idempotency-record.row';
import { openDataSource, operatorDataSource } from '../support/database-connection';
import type { TcpProxy } from '../support/tcp-proxy';
import { type TestDatabase, createTestDatabase } from '../support/test-database';
import { endWaiting } from '../support/waiting-sessions';

const POOL = 3;
const statement = (name: string, text: string, ...values: string[]): BoundStatement => ({ name, text, values });
const COUNT = 'SELECT count(*) FROM idempotency_record WHERE workspace_id = $1';
const INSERT = `
  INSERT INTO idempotency_record (workspace_id, application_id, key_hash, fingerprint, status, body, expires_at)
  VALUES ($1, $1, '\\x01', '', 200, '', now())`;

describe('When connections to Postgres are lost,', () => {
  let setting: DatabaseBehindProxy;
  let testDatabase: TestDatabase;
  let proxy: TcpProxy;
  let dataSource: DataSource;
  let database: Database;
  beforeAll(async () => {
    setting = await openDatabaseBehindProxy();
    ({ database: testDatabase, proxy } = setting);
    dataSource = await openDataSource(testDatabase.databaseUrl, POOL);
    database = new Database(dataSource);
  });
  afterEach(() => testDatabase.admin.query('ROLLBACK'));
  afterAll(async () => {
    await dataSource.destroy();
    await setting.close();
  });

  const aScope = () => ({ workspaceId: workspaceId(randomUUID()) });
  const read = async (scope = aScope()) => {
    const [rows] = await database.read(scope, [statement('count', COUNT, scope.workspaceId)]);
    return Number(rows?.[0]?.[0]);
  };
  const lock = () => testDatabase.admin.query('BEGIN; LOCK TABLE idempotency_record IN ACCESS EXCLUSIVE MODE');

  it('a read succeeds on a new one although every pooled one is lost unnoticed', async () => {
    const pool = poolOf(dataSource);
    const clients = await Promise.all(Array.from({ length: POOL }, () => pool.connect()));
    for (const client of clients) client.release();
    proxy.forget();
    expect(pool.idleCount).toBe(POOL);
    expect(await read()).toBe(0);
    expect(await Promise.all([read(), read(), read(), read()])).toEqual([0, 0, 0, 0]);
  });

  it('a running read succeeds', async () => {
    await lock();
    const response = read();
    await endWaiting(testDatabase, 1);
    await testDatabase.admin.query('ROLLBACK');
    expect(await response).toBe(0);
  });

  it('a read that loses its second connection fails as retryable', async () => {
    await lock();
    const failure = read().catch((error: unknown) => error);
    await endWaiting(testDatabase, 2);
    expect(databaseIsUnavailable(await failure)).toBe(true);
  });

  it('a possible write outside a unit of work is never sent again', async () => {
    const scope = aScope();
    const insert = statement('insert', INSERT, scope.workspaceId);
    for (const write of [() => database.run(scope, [insert]), () => database.write(scope, [insert])]) {
      await lock();
      const failure = write().then(
        () => 'done',
        (error: unknown) => databaseIsUnavailable(error),
      );
      await endWaiting(testDatabase, 1);
      await testDatabase.admin.query('ROLLBACK');
      expect(await failure).toBe(true);
    }
    expect(await read(scope)).toBe(0);
  });

  it('no later write joins a transaction whose statement Postgres left without an answer', async () => {
    const options = dataSourceOptions(
      { url: testDatabase.databaseUrl, poolSize: 1, patience: 'request' },
      () => undefined,
    );
    const silent = await new DataSource({
      ...options,
      extra: { query_timeout: 500 },
    } as DataSourceOptions).initialize();
    const [scope, other] = [aScope(), aScope()];
    const one = new Database(silent);
    await lock();
    const unanswered = one.inTenant(scope, (manager) => manager.query(INSERT, [scope.workspaceId]));
    await expect(unanswered).rejects.toThrow('Query read timeout');
    await testDatabase.admin.query('ROLLBACK');

    await one.run(other, [statement('insert', INSERT, other.workspaceId)]);

    expect([await read(scope), await read(other)]).toEqual([0, 1]);
    await silent.destroy();
  });

  it.each([
    ['a statement', (manager: EntityManager) => manager.query<object[]>('SELECT 1')],
    ['a repository', (manager: EntityManager) => manager.existsBy(IdempotencyRecordRow, { status: 200 })],
  ])('a transaction fails as retryable, also where the next is %s', async (_, next) => {
    const owner = await operatorDataSource(testDatabase);
    const transaction = new Database(owner).inTenant(aScope(), async (manager) => {
      const [own] = await manager.query<{ pid: number }[]>('SELECT pg_backend_pid() AS pid');
      await testDatabase.admin.query('SELECT pg_terminate_backend($1)', [own?.pid]);
      while (manager.queryRunner?.isReleased === false) await delay(5);
      await next(manager);
    });
    const failure = await transaction.catch((error: unknown) => error);
    await owner.destroy();

    expect(databaseIsUnavailable(failure)).toBe(true);
    expect(String(failure)).toBe('Error: Connection terminated unexpectedly');
  });

  it('a unit of work that has not sent its COMMIT is repeated once', async () => {
    const scope = aScope();
    const insert = statement('insert', INSERT, scope.workspaceId);
    let calls = 0;
    const write = () =>
      database.unitOfWork(scope, () => {
        calls += 1;
        return database.run(scope, [insert]);
      });
    for (const losses of [1, 2]) {
      await lock();
      const outcome = write().then(
        () => 'done',
        (error: unknown) => databaseIsUnavailable(error),
      );
      for (let lost = 0; lost < losses; lost += 1) await endWaiting(testDatabase, 1);
      await testDatabase.admin.query('ROLLBACK');
      expect([await outcome, calls, await read(scope)]).toEqual([losses === 1 ? 'done' : true, 2 * losses, 1]);
    }
  });

  describe('a unit of work ends soon after its deadline', () => {
    const gate = { statements: [statement('gate', 'SELECT 1')], judge: () => undefined };
    afterEach(() => proxy.set('forward'));
    const scope = aScope();
    /** Returns the duration of work that has half a second and fails. */
    const duration = async (work: () => Promise<unknown>): Promise<number> => {
      const since = performance.now();
      const unit = database.unitOfWork(scope, work, { gate, deadline: since + 500 });
      await expect(unit).rejects.toThrow();
      return performance.now() - since;
    };
    const ask = (): Promise<unknown> => database.run(scope, [statement('one', 'SELECT 1')]);

    it('when Postgres is silent from its first statement on', async () => {
      await read();
      await proxy.set('blackhole');
      expect(await duration(ask)).toBeLessThan(4_000);
    });

    it('when Postgres falls silent before the next statement', async () => {
      expect(
        await duration(() =>
          ask()
            .then(() => proxy.set('blackhole'))
            .then(ask),
        ),
      ).toBeLessThan(4_000);
    });

    it('when Postgres falls silent before the rollback of a refused statement', async () => {
      const refuse = (): Promise<never> => Promise.reject(new Error('refused by the domain'));
      expect(
        await duration(() =>
          ask()
            .then(() => proxy.set('blackhole'))
            .then(refuse),
        ),
      ).toBeLessThan(4_000);
    });

    it('when others hold every connection', async () => {
      const pool = poolOf(dataSource);
      const held = await Promise.all(Array.from({ length: POOL }, () => pool.connect()));
      const { connectionTimeoutMillis } = pool.options;
      pool.options.connectionTimeoutMillis = 20_000;
      try {
        expect(await duration(ask)).toBeLessThan(10_000);
      } finally {
        Object.assign(pool.options, { connectionTimeoutMillis });
        for (const client of held) client.release();
      }
    });
  });
});

describe('Reads', () => {
  let testDatabase: TestDatabase;
  let dataSource: DataSource;
  let database: Database;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    dataSource = await openDataSource(testDatabase.databaseUrl);
    database = new Database(dataSource);
  });
  afterAll(async () => {
    await dataSource.destroy();
    await testDatabase.drop();
  });

  const sleep = (seconds: number): Promise<unknown> =>
    database.read({ outsideTenants: true }, [statement('sleep', 'SELECT pg_sleep($1)', String(seconds))]);

  it('end after two and a half seconds each, however long Postgres would take', async () => {
    const since = performance.now();
    await expect(sleep(60)).rejects.toThrow('Query read timeout');
    // Two attempts fit into the limit of five seconds. The connection's own timeout is longer.
    expect(performance.now() - since).toBeLessThan(4_000);
    await sleep(0);
  });

  it('leave nothing running in Postgres when nobody waits any more', async () => {
    const endless = [
      statement('no_limit', `SELECT set_config('statement_timeout', '0', true)`),
      statement('sleep_on', 'SELECT pg_sleep(600)'),
    ];
    await expect(database.read({ outsideTenants: true }, endless)).rejects.toThrow('Query read timeout');
    const running = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_sleep(600)'`;
    const left = async () => (await testDatabase.admin.query(running)).rowCount;
    for (const deadline = Date.now() + 20_000; (await left()) !== 0 && Date.now() < deadline;) await delay(50);
    expect(await left()).toBe(0);
  });

  it('wait for a connection no longer than their remaining time', async () => {
    const pool = poolOf(dataSource);
    const held = await pool.connect();
    const since = performance.now();
    const one = [statement('one', 'SELECT 1')];
    await expect(new ConnectionPool(pool).run(one, since + 20)).rejects.toThrow(
      'timeout exceeded when trying to connect',
    );
    // The pool alone would have waited two seconds.
    expect(performance.now() - since).toBeLessThan(1_500);
    held.release();
    // The late connection was given back.
    expect(await new ConnectionPool(pool).run(one, performance.now() + 60_000)).toEqual([[['1']]]);
  });
});
