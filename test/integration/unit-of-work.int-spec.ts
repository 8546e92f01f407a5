import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { workspaceId } from '#libs/kernel';
import { type BoundStatement, Database, GATE_IS_OPEN, bind, prepared } from '#libs/platform/database';
import { type Gate, GateClosed } from '../../libs/platform/src/database/unit-of-work';
import { openDataSource } from '../support/database-connection';
import { TcpProxy } from '../support/tcp-proxy';
import { type TestDatabase, createTestDatabase } from '../support/test-database';

const statement = (text: string, ...values: string[]): BoundStatement => bind(prepared('test', text), values);
const INSERT = `
  INSERT INTO idempotency_record (workspace_id, application_id, key_hash, fingerprint, status, body, expires_at)
  VALUES ($1, $1, decode($2, 'hex'), '', 200, $3, now())`;
const COUNT = 'SELECT count(*) FROM idempotency_record WHERE workspace_id = $1';
const LOCK = `SELECT pg_advisory_xact_lock(hashtext($1 || $2))`;

class Refused extends GateClosed {}

/** Captured before any unit of work, so that code in it runs outside of all units. */
const outsideUnit = AsyncLocalStorage.snapshot();

describe('A unit of work', () => {
  let testDatabase: TestDatabase;
  let proxy: TcpProxy;
  let dataSource: DataSource;
  let database: Database;
  let outside: DataSource;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    const url = new URL(testDatabase.databaseUrl);
    proxy = await TcpProxy.to(url.hostname, Number(url.port));
    const proxied = new URL(url);
    proxied.port = String(proxy.port);
    dataSource = await openDataSource(proxied.href, 4);
    outside = await openDataSource(url.href);
    database = new Database(dataSource);
  });
  afterAll(async () => {
    await dataSource.destroy();
    await outside.destroy();
    await proxy.close();
    await testDatabase.drop();
  });

  const aScope = () => ({ workspaceId: workspaceId(randomUUID()) });
  type Scope = ReturnType<typeof aScope>;
  const insert = (scope: Scope, key: string) => database.write(scope, [statement(INSERT, scope.workspaceId, key, '')]);
  const count = async (scope: Scope, from = database): Promise<number> => {
    const [rows] = await from.run(scope, [statement(COUNT, scope.workspaceId)]);
    return Number(rows?.[0]?.[0]);
  };

  it('sees its own writes, and others see them once it has ended', async () => {
    const scope = aScope();
    await database.unitOfWork(scope, async () => {
      await insert(scope, '01');
      await insert(scope, '02');
      expect([await count(scope), await count(scope, new Database(outside))]).toEqual([2, 0]);
      await insert(scope, '03');
    });
    expect(await count(scope, new Database(outside))).toBe(3);
  });

  it('leaves nothing when the work throws, and the connection is usable', async () => {
    const scope = aScope();
    const failing = database.unitOfWork(scope, async () => {
      await insert(scope, '01');
      expect(await count(scope)).toBe(1);
      throw new Error('refused by the domain');
    });
    await expect(failing).rejects.toThrow('refused by the domain');
    expect(await count(scope)).toBe(0);
  });

  it('leaves nothing when the last write fails together with the commit', async () => {
    const scope = aScope();
    const failing = database.unitOfWork(scope, async () => {
      await insert(scope, '01');
      await insert(scope, '01');
    });
    await expect(failing).rejects.toThrow('duplicate key');
    expect(await count(scope)).toBe(0);
  });

  it('refuses one name for two texts, in one batch and in two', async () => {
    const scope = aScope();
    const named = (text: string): BoundStatement => ({ name: 'shared', text, values: [] });
    await expect(database.run(scope, [named('SELECT 1'), named('SELECT 2')])).rejects.toThrow(/share the name shared/);
    await outside.query('SELECT 1');
    const single = new Database(outside);
    await single.run(scope, [named('SELECT 1')]);
    await expect(single.run(scope, [named('SELECT 2')])).rejects.toThrow(/share the name shared/);
    expect(await single.run(scope, [named('SELECT 2')])).toEqual([[['2']]]);
  });

  it('uses one connection, and none before its first statement', async () => {
    const scope = aScope();
    const inUse = async () => {
      const { rows } = await testDatabase.admin.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'`,
      );
      return rows[0]?.n;
    };
    await database.unitOfWork(scope, async () => {
      expect(await inUse()).toBe(0);
      await Promise.all([count(scope), count(scope)]);
      expect(await inUse()).toBe(1);
    });
    expect(await inUse()).toBe(0);
  });

  it('has one tenant and no nested transaction', async () => {
    const scope = aScope();
    await expect(database.unitOfWork(scope, () => count(aScope()))).rejects.toThrow('one tenant only');
    await expect(database.unitOfWork(scope, () => database.inTenant(scope, () => Promise.resolve()))).rejects.toThrow(
      'within a unit of work',
    );
    await expect(database.unitOfWork(scope, () => database.unitOfWork(scope, () => count(scope)))).rejects.toThrow(
      'within another',
    );
  });

  it('cannot be used by work left behind until its commit', async () => {
    const scope = aScope();
    let late: Promise<number> = Promise.resolve(0);
    await database.unitOfWork(scope, async () => {
      late = count(scope).then(() => count(scope));
      late.catch(() => undefined);
      await insert(scope, '01');
    });
    await expect(late).rejects.toThrow('has ended');
    expect(await count(scope)).toBe(1);
  });

  it('is joined although another one has ended', async () => {
    const [scope, otherScope] = [aScope(), aScope()];
    const other = database.unitOfWork(otherScope, () => count(otherScope));
    const joined = database.unitOfWork(scope, async () => {
      await insert(scope, '01');
      await other;
      await insert(scope, '02');
      return [await count(scope), await count(scope, new Database(outside))];
    });
    expect(await joined).toEqual([2, 0]);
  });

  it("keeps nothing when a statement's error was swallowed", async () => {
    const scope = aScope();
    const careless = database.unitOfWork(scope, async () => {
      await insert(scope, '01');
      await database.run(scope, [statement('SELECT 1 / $1::int', '0')]).catch(() => undefined);
    });
    await expect(careless).rejects.toThrow('nothing was kept');
    expect(await count(scope)).toBe(0);
  });

  it('leaves no connection behind when nobody waited for its statements', async () => {
    const scope = aScope();
    for (let round = 0; round < 5; round += 1) {
      await database.unitOfWork(scope, () => {
        void count(scope);
        return Promise.resolve();
      });
    }
    expect(await count(scope)).toBe(0);
  });

  describe('with a gate', () => {
    const scope = aScope();
    const closing = (why: Error): Gate => ({
      statements: [statement(`SELECT set_config('app.gate_closed', 'true', true)`)],
      judge: ([rows]) => {
        expect(rows).toEqual([['true']]);
        throw why;
      },
    });
    const opening = (judge: Gate['judge']): Gate => ({ statements: [statement('SELECT 1')], judge });

    it('asks the gate in the first batch, and the work sees only its own rows', async () => {
      const judged: unknown[] = [];
      const gate = opening((rows) => judged.push(rows));
      const counts = await database.unitOfWork(scope, async () => [await count(scope), await count(scope)], { gate });
      expect([counts, judged]).toEqual([[0, 0], [[[['1']]]]]);
    });

    it.each([
      ['writes and goes on', () => insert(scope, '01')],
      ['throws before it asks anything', () => Promise.reject(new Error('refused by the domain'))],
      ['swallows what its statements throw', () => count(scope).catch(() => 0)],
    ])('leaves nothing when the gate is closed and the work %s', async (_, work: () => Promise<unknown>) => {
      const refused = new Refused('closed');
      await expect(database.unitOfWork(scope, work, { gate: closing(refused) })).rejects.toBe(refused);
      expect(await count(scope)).toBe(0);
    });

    it('waits for no lock of a guarded statement when the gate is closed', async () => {
      const { admin } = testDatabase;
      await admin.query('BEGIN');
      await admin.query(LOCK, [scope.workspaceId, '0f']);
      const lock = statement(`${LOCK} WHERE ${GATE_IS_OPEN}`, scope.workspaceId, '0f');
      const waiting = database.unitOfWork(scope, () => database.run(scope, [lock]), { gate: closing(new Refused()) });
      await expect(waiting).rejects.toBeInstanceOf(Refused);
      const heeding = database.unitOfWork(scope, () => database.run(scope, [lock]), { gate: opening(() => undefined) });
      await expect(heeding).rejects.toMatchObject({ code: '55P03' });
      await admin.query('COMMIT');
    });

    it('reports a closed gate although another statement of its batch failed', async () => {
      const refused = new Refused('closed');
      const failing = statement(
        'SELECT 1 / (SELECT count(*) FROM idempotency_record WHERE workspace_id = $1)',
        scope.workspaceId,
      );
      const work = () => database.run(scope, [failing]);
      await expect(database.unitOfWork(scope, work, { gate: closing(refused) })).rejects.toBe(refused);
      const gate = opening(() => undefined);
      await expect(database.unitOfWork(scope, work, { gate })).rejects.toMatchObject({ code: '22012' });
    });

    it('waits for a connection once', async () => {
      const one = await openDataSource(new URL(testDatabase.databaseUrl).href);
      const taken = new Database(one);
      const gate = opening(() => undefined);
      const held = taken.unitOfWork(scope, async () => {
        await count(scope, taken);
        const since = performance.now();
        // Runs outside of this unit, like another request.
        const waiting = outsideUnit(() => taken.unitOfWork(scope, () => count(scope, taken), { gate }));
        await expect(waiting).rejects.toThrow();
        return performance.now() - since;
      });
      expect(await held).toBeLessThan(3_500);
      await one.destroy();
    });

    it('asks the gate again when the work is repeated', async () => {
      let asked = 0;
      const gate = opening(() => (asked += 1));
      const work = async (): Promise<number> => {
        await count(scope);
        if (asked < 3) throw Object.assign(new Error('deadlock'), { code: '40P01' });
        return asked;
      };
      expect(await database.unitOfWork(scope, work, { gate })).toBe(3);
    });
  });

  it('ends by its deadline, which bounds its wait for a lock', async () => {
    const scope = aScope();
    const { admin } = testDatabase;
    await admin.query('BEGIN');
    await admin.query(LOCK, [scope.workspaceId, '0d']);
    const since = performance.now();
    const waiting = database.unitOfWork(scope, () => database.run(scope, [statement(LOCK, scope.workspaceId, '0d')]), {
      deadline: since + 500,
    });
    await expect(waiting).rejects.toMatchObject({ code: '55P03' });
    expect(performance.now() - since).toBeLessThan(1_900);
    await admin.query('COMMIT');
  });

  it('leaves connections to reads while it waits for a lock', async () => {
    const scope = aScope();
    const url = new URL(testDatabase.databaseUrl).href;
    const four = await openDataSource(url, 4);
    const shared = new Database(four);
    const { admin } = testDatabase;
    await admin.query('BEGIN');
    await admin.query(LOCK, [scope.workspaceId, '0e']);
    const units = Array.from({ length: 6 }, () =>
      shared.unitOfWork(scope, () => shared.run(scope, [statement(LOCK, scope.workspaceId, '0e')])),
    );
    await delay(200);
    const since = performance.now();
    await count(scope, shared);
    expect(performance.now() - since).toBeLessThan(500);
    await admin.query('COMMIT');
    await Promise.all(units);
    await four.destroy();
  });

  it('counts connections that were not free in time, and those who wait', async () => {
    const scope = aScope();
    const one = await openDataSource(new URL(testDatabase.databaseUrl).href);
    const narrow = new Database(one);
    const late: Promise<unknown>[] = [];
    await narrow.unitOfWork(scope, async () => {
      await narrow.run(scope, [statement(COUNT, scope.workspaceId)]);
      expect(narrow.poolUse).toMatchObject({ size: 1, inUse: 1, idle: 0, waiting: 0 });
      late.push(
        ...outsideUnit(() => [
          narrow.run(scope, [statement(COUNT, scope.workspaceId)]),
          narrow.inTenant(scope, () => Promise.resolve()),
          narrow.unitOfWork(scope, () => narrow.run(scope, [statement(COUNT, scope.workspaceId)])),
          narrow.unitOfWork(scope, () => narrow.write(scope, [statement(COUNT, scope.workspaceId)])),
        ]),
      );
      for (const waiting of late) waiting.catch(() => undefined);
      await delay(100);
      expect(narrow.poolUse.waiting).toBe(4);
      for (const waiting of late) await expect(waiting).rejects.toThrow('timeout exceeded when trying to connect');
    });
    expect(narrow.poolUse.timeouts).toBe(4);
    await one.destroy();
  });

  it('is repeated completely after a deadlock', async () => {
    const scope = aScope();
    let attempts = 0;
    const lockBoth = (keys: readonly [string, string], mark: string) =>
      database.unitOfWork(scope, async () => {
        attempts += 1;
        await database.run(scope, [statement(LOCK, scope.workspaceId, keys[0])]);
        await delay(100);
        await database.run(scope, [statement(LOCK, scope.workspaceId, keys[1])]);
        await insert(scope, mark);
      });
    await Promise.all([lockBoth(['0a', '0b'], '01'), lockBoth(['0b', '0a'], '02')]);
    expect(attempts).toBeGreaterThan(2);
    expect(await count(scope)).toBe(2);
  });

  it('asks for another request when a row that it names vanishes before each attempt', async () => {
    const scope = aScope();
    let attempts = 0;
    const working = database.unitOfWork(scope, async () => {
      attempts += 1;
      await database.run(scope, [statement(INSERT.replace("''", 'NULL'), scope.workspaceId, '0d', '')]);
    });
    await expect(working).rejects.toMatchObject({ code: 'service_unavailable', cause: { code: '23502' } });
    expect(attempts).toBe(11);
  });

  it('gives up within five seconds when a lock is not available', async () => {
    const scope = aScope();
    const { admin } = testDatabase;
    await admin.query('BEGIN');
    await admin.query(LOCK, [scope.workspaceId, '0c']);
    const since = performance.now();
    const waiting = database.unitOfWork(scope, () => database.run(scope, [statement(LOCK, scope.workspaceId, '0c')]));
    await expect(waiting).rejects.toMatchObject({ code: '55P03' });
    expect(performance.now() - since).toBeLessThan(5_500);
    await admin.query('COMMIT');
  });

  it('fails when the connection is lost, and the pool recovers', async () => {
    const scope = aScope();
    const lost = database.unitOfWork(scope, async () => {
      await insert(scope, '01');
      await count(scope);
      await proxy.set('refuse');
    });
    await expect(lost).rejects.toThrow();
    await proxy.set('forward');
    expect(await count(scope)).toBe(0);
    await database.unitOfWork(scope, () => insert(scope, '02'));
    expect(await count(scope)).toBe(1);
  });
});
