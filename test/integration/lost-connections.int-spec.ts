import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { NEWEST, workspaceId } from '#libs/kernel';
import { type BoundStatement, Database, poolOf } from '#libs/platform';
import { DataSource } from 'typeorm';
import { connectBefore } from '../../libs/platform/src/database/connect-before';
import { dataSourceOptions } from '../../libs/platform/src/database/data-source';
import { databaseIsUnavailable } from '../../libs/platform/src/database/database-fault';
import type { ApiClient } from '../support/api-client';
import { type TestApp, startAppOn } from '../support/start-app';
import { TcpProxy } from '../support/tcp-proxy';
import { type TestDatabase, createTestDatabase } from '../support/test-database';

const POOL = 3;
const statement = (name: string, text: string, ...values: string[]): BoundStatement => ({ name, text, values });
const COUNT = 'SELECT count(*) FROM idempotency_record WHERE workspace_id = $1';
const INSERT = `
  INSERT INTO idempotency_record (workspace_id, application_id, key_hash, fingerprint, status, body, expires_at)
  VALUES ($1, $1, '\\x01', '', 200, '', now())`;

/** Ends so many sessions that wait for a lock, one after the other as they come. */
const endWaiting = async ({ admin }: TestDatabase, count: number): Promise<void> => {
  for (let ended = 0; ended < count; await delay(10)) {
    // Within a transaction it would be shown what it has seen before.
    await admin.query('SELECT pg_stat_clear_snapshot()');
    const { rowCount } = await admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'compliance-api' AND wait_event_type = 'Lock'`,
    );
    ended += rowCount ?? 0;
  }
};

describe('When connections to Postgres are lost,', () => {
  let testDatabase: TestDatabase;
  let proxy: TcpProxy;
  let dataSource: DataSource;
  let database: Database;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    const url = new URL(testDatabase.databaseUrl);
    proxy = await TcpProxy.to(url.hostname, Number(url.port));
    url.port = String(proxy.port);
    const options = dataSourceOptions({ url: url.href, poolSize: POOL, patience: 'request' }, () => undefined);
    dataSource = await new DataSource(options).initialize();
    database = new Database(dataSource);
  });
  afterEach(() => testDatabase.admin.query('ROLLBACK'));
  afterAll(async () => {
    await dataSource.destroy();
    await proxy.close();
    await testDatabase.drop();
  });

  const aScope = () => ({ workspaceId: workspaceId(randomUUID()) });
  const read = async (scope = aScope()) => {
    const [rows] = await database.read(scope, [statement('count', COUNT, scope.workspaceId)], NEWEST);
    return Number(rows?.[0]?.[0]);
  };
  const lock = () => testDatabase.admin.query('BEGIN; LOCK TABLE idempotency_record IN ACCESS EXCLUSIVE MODE');

  it('a read is answered on a new one, though all that wait in the pool are lost and none is known to be', async () => {
    const pool = poolOf(dataSource);
    const clients = await Promise.all(Array.from({ length: POOL }, () => pool.connect()));
    for (const client of clients) client.release();
    proxy.forget();
    expect(pool.idleCount).toBe(POOL);
    expect(await read()).toBe(0);
    expect(await Promise.all([read(), read(), read(), read()])).toEqual([0, 0, 0, 0]);
  });

  it('a read that is under way is answered', async () => {
    await lock();
    const answer = read();
    await endWaiting(testDatabase, 1);
    await testDatabase.admin.query('ROLLBACK');
    expect(await answer).toBe(0);
  });

  it('a read that loses its second as well fails, as one that may be repeated', async () => {
    await lock();
    const failure = read().catch((error: unknown) => error);
    await endWaiting(testDatabase, 2);
    expect(databaseIsUnavailable(await failure)).toBe(true);
  });

  it('what may write is never sent again', async () => {
    const scope = aScope();
    const insert = statement('insert', INSERT, scope.workspaceId);
    let calls = 0;
    const work = (): Promise<unknown> => {
      calls += 1;
      return database.read(scope, [insert], NEWEST);
    };
    for (const write of [
      () => database.run(scope, [insert]),
      () => database.write(scope, [insert]),
      () => database.unitOfWork(scope, work),
    ]) {
      await lock();
      const failure = write().then(
        () => 'done',
        (error: unknown) => databaseIsUnavailable(error),
      );
      await endWaiting(testDatabase, 1);
      await testDatabase.admin.query('ROLLBACK');
      expect(await failure).toBe(true);
    }
    expect([calls, await read(scope)]).toEqual([1, 0]);
  });

  describe('a unit of work is over by its deadline and a moment', () => {
    const gate = { statements: [statement('gate', 'SELECT 1')], judge: () => undefined };
    afterEach(() => proxy.set('forward'));
    const scope = aScope();
    /** Milliseconds of one that has half a second, and fails. */
    const duration = async (work: () => Promise<unknown>): Promise<number> => {
      const since = performance.now();
      const unit = database.unitOfWork(scope, work, { gate, deadline: since + 500 });
      await expect(unit).rejects.toThrow();
      return performance.now() - since;
    };
    const ask = (): Promise<unknown> => database.run(scope, [statement('one', 'SELECT 1')]);

    it('when Postgres says nothing from its first statement on', async () => {
      await read();
      await proxy.set('blackhole');
      expect(await duration(ask)).toBeLessThan(4_000);
    });

    it('when Postgres falls silent before the next one', async () => {
      expect(
        await duration(() =>
          ask()
            .then(() => proxy.set('blackhole'))
            .then(ask),
        ),
      ).toBeLessThan(4_000);
    });

    it('when Postgres falls silent before what was refused is rolled back', async () => {
      const refuse = (): Promise<never> => Promise.reject(new Error('refused by the domain'));
      expect(
        await duration(() =>
          ask()
            .then(() => proxy.set('blackhole'))
            .then(refuse),
        ),
      ).toBeLessThan(4_000);
    });

    it('when others have every connection', async () => {
      const pool = poolOf(dataSource);
      const held = await Promise.all(Array.from({ length: POOL }, () => pool.connect()));
      expect(await duration(ask)).toBeLessThan(1_800);
      for (const client of held) client.release();
    });
  });
});

describe('A client', () => {
  let testDatabase: TestDatabase;
  let proxy: TcpProxy;
  let app: TestApp;
  let client: ApiClient;
  let asset: string;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    const url = new URL(testDatabase.databaseUrl);
    proxy = await TcpProxy.to(url.hostname, Number(url.port));
    url.port = String(proxy.port);
    // Without Redis who calls is read from Postgres each time as well.
    app = await startAppOn({ ...testDatabase, databaseUrl: url.href }, { REDIS_URL: '' });
    const workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace);
    asset = `/v1/inventory/assets/${(await app.arrange.anAsset(workspace)).id}`;
  });
  afterAll(async () => {
    await app.stop();
    await proxy.close();
    await testDatabase.drop();
  });

  const statuses = async (): Promise<number[]> => {
    const paths = [asset, '/v1/inventory/assets', '/v1/computers', asset];
    return (await Promise.all(paths.map((path) => client.get(path)))).map(({ status }) => status);
  };

  it('that reads hears nothing of connections that were lost meanwhile, whoever ended them', async () => {
    for (let round = 0; round < 5; round += 1) {
      expect(await statuses()).toEqual([200, 200, 200, 200]);
      proxy.forget();
      expect(await statuses()).toEqual([200, 200, 200, 200]);
      await testDatabase.admin.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND application_name = 'compliance-api'`,
      );
    }
  });

  it('hears nothing of one that was lost under the answers to a write that it sends again, many times at once', async () => {
    const again = () => client.patch(asset, { description: 'once' }, { 'Idempotency-Key': 'known' });
    const { text } = await again();
    const { admin } = testDatabase;
    await admin.query('BEGIN; LOCK TABLE idempotency_record IN ACCESS EXCLUSIVE MODE');
    const answers = Promise.all(Array.from({ length: 12 }, again));
    await endWaiting(testDatabase, 1);
    await admin.query('ROLLBACK');
    const replays = (await answers).map((answer) => [answer.text, answer.headers.get('idempotent-replayed')]);
    expect(replays).toEqual(replays.map(() => [text, 'true']));
  });

  it('that reads is answered within five seconds, though Postgres is asked twice for it', async () => {
    expect((await client.get(asset)).status).toBe(200);
    proxy.slowDown(1_400);
    try {
      // Each question takes 2.8 s.
      const { status, headers } = await client.get(asset);
      expect([status, headers.get('Retry-After')]).toEqual([503, '1']);
    } finally {
      proxy.slowDown(0);
    }
  });

  it('that writes is answered within five seconds, though who calls has taken two of them', async () => {
    expect((await client.get(asset)).status).toBe(200);
    proxy.slowDown(1_100);
    try {
      // Who calls takes 2.2 s, the change and its commit 4.4 s.
      const { status, headers } = await client.patch(asset, { description: 'late' });
      expect([status, headers.get('Retry-After')]).toEqual([503, '1']);
    } finally {
      proxy.slowDown(0);
    }
  });
});

describe('A client that repeats a write', () => {
  let testDatabase: TestDatabase;
  let proxy: TcpProxy;
  let app: TestApp;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    const url = new URL(testDatabase.databaseUrl);
    proxy = await TcpProxy.to(url.hostname, Number(url.port));
    url.port = String(proxy.port);
    // With Redis, so that the key is what Postgres is asked for first.
    app = await startAppOn(
      { ...testDatabase, databaseUrl: url.href },
      { REDIS_URL: process.env['TEST_REDIS_URL'] as string },
    );
  });
  afterAll(async () => {
    await app.stop();
    await proxy.close();
    await testDatabase.drop();
  });

  it('hears its answer again, though the connections that there were are lost', async () => {
    const workspace = await app.arrange.aWorkspace();
    const client = await app.arrange.aClient(workspace);
    const asset = `/v1/inventory/assets/${(await app.arrange.anAsset(workspace)).id}`;
    const write = () => client.patch(asset, { description: 'once' }, { 'Idempotency-Key': 'the same' });
    expect((await write()).status).toBe(200);
    proxy.forget();
    const again = await write();
    expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([200, 'true']);
  });
});

describe('Reads', () => {
  let testDatabase: TestDatabase;
  let dataSource: DataSource;
  let database: Database;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    const { databaseUrl: url } = testDatabase;
    dataSource = await new DataSource(
      dataSourceOptions({ url, poolSize: 1, patience: 'request' }, () => undefined),
    ).initialize();
    database = new Database(dataSource);
  });
  afterAll(async () => {
    await dataSource.destroy();
    await testDatabase.drop();
  });

  const sleep = (seconds: number): Promise<unknown> =>
    database.read({ outsideTenants: true }, [statement('sleep', 'SELECT pg_sleep($1)', String(seconds))], NEWEST);

  it('are over after two and a half seconds each, however long Postgres would take', async () => {
    const since = performance.now();
    await expect(sleep(60)).rejects.toThrow('Query read timeout');
    // Two of them are within the five seconds that nothing may wait; the connection's own patience is longer.
    expect(performance.now() - since).toBeLessThan(4_000);
    await sleep(0);
  });

  it('leave nothing running in Postgres that nobody waits for any more', async () => {
    const endless = [
      statement('no_limit', `SELECT set_config('statement_timeout', '0', true)`),
      statement('sleep_on', 'SELECT pg_sleep(600)'),
    ];
    await expect(database.read({ outsideTenants: true }, endless, NEWEST)).rejects.toThrow('Query read timeout');
    const running = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_sleep(600)'`;
    const left = async () => (await testDatabase.admin.query(running)).rowCount;
    for (const deadline = Date.now() + 20_000; (await left()) !== 0 && Date.now() < deadline;) await delay(50);
    expect(await left()).toBe(0);
  });

  it('wait no longer for a connection than they have', async () => {
    const pool = poolOf(dataSource);
    const held = await pool.connect();
    const since = performance.now();
    await expect(connectBefore(pool, since + 20)).rejects.toThrow('timeout exceeded when trying to connect');
    // The pool would have waited two seconds.
    expect(performance.now() - since).toBeLessThan(1_500);
    held.release();
    // Nobody kept the one that came too late.
    (await connectBefore(pool, performance.now() + 60_000)).release();
  });
});
