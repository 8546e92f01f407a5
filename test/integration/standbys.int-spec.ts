import { setTimeout as delay } from 'node:timers/promises';
import { Client, Pool } from 'pg';
import type { BoundStatement } from '#libs/platform/database';
import { Standbys } from '../../libs/platform/src/database/connections/standbys';
import { StandbyPostgres } from '../support/standby-postgres';
import { TcpProxy } from '../support/tcp-proxy';
import { type TemporaryPostgres, startTemporaryPostgres } from '../support/temporary-postgres';

const POOL = 2;
const statement = (text: string): BoundStatement => ({ name: '', text, values: [] });

describe('The standbys of a primary', () => {
  let primary: TemporaryPostgres;
  let source: TcpProxy;
  let standby: StandbyPostgres;
  let way: TcpProxy;
  let admin: Client;
  let log: string[];
  const closed: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    primary = await startTemporaryPostgres();
    source = await TcpProxy.to('127.0.0.1', primary.port);
    standby = await StandbyPostgres.of(primary, 'standby', { host: '127.0.0.1', port: source.port });
    way = await TcpProxy.to('127.0.0.1', standby.port);
    admin = new Client({ connectionString: primary.superuserUrl });
    await admin.connect();
    await admin.query('CREATE TABLE written (number int); GRANT SELECT ON written TO PUBLIC');
  });
  beforeEach(async () => {
    log = [];
    await standby.caughtUp(primary);
  });
  afterEach(async () => {
    // Clients close before their server.
    for (const close of closed.splice(0).reverse()) await close();
  });
  afterAll(async () => {
    await admin.end();
    await Promise.all([source.close(), way.close()]);
    await standby.stop();
    await primary.stop();
  });

  const throughProxy = (): string => {
    const url = new URL(primary.databaseUrl);
    url.port = String(way.port);
    return url.toString();
  };
  const standbysOf = (primaryUrl: string, ...urls: string[]): Standbys => {
    const pool = new Pool({ connectionString: primaryUrl, max: 1 });
    const standbys = new Standbys(pool, urls, POOL, true, (event) =>
      log.push([event.pool, event.message, event.reason].filter(Boolean).join(': ')),
    );
    pool.on('error', () => undefined);
    closed.push(
      () => pool.end(),
      () => standbys.onApplicationShutdown(),
    );
    return standbys;
  };
  /** Compares and writes until the standby is used, or unused, as wanted. Returns the time taken. */
  const untilUsed = async (wanted: boolean, standbys: Standbys, writing = true): Promise<number> => {
    const since = performance.now();
    for (const deadline = since + 30_000; performance.now() < deadline; await delay(100)) {
      if (writing) await admin.query('INSERT INTO written VALUES (1)');
      await standbys.compare();
      if ((standbys.choose() !== null) === wanted) return performance.now() - since;
    }
    throw new Error(`never ${wanted ? 'in use' : 'out of use'}: ${log.join('; ')}`);
  };
  /** Returns the value that the next standby reads. */
  const read = async (standbys: Standbys, text: string): Promise<unknown> => {
    const standby = standbys.choose();
    if (!standby) throw new Error('none is in use');
    return standby.read([statement(text)]);
  };
  const inUse = async (): Promise<Standbys> => {
    const standbys = standbysOf(primary.databaseUrl, throughProxy());
    await untilUsed(true, standbys, false);
    return standbys;
  };

  it('are used in turn as soon as they have caught up', async () => {
    const standbys = standbysOf(primary.databaseUrl, throughProxy(), standby.url(primary.databaseUrl));

    await standbys.compare();

    expect(await read(standbys, 'SELECT 1')).toEqual([[['1']]]);
    const [first, second, third] = [standbys.choose(), standbys.choose(), standbys.choose()];
    expect([first === second, first === third]).toEqual([false, true]);
    expect(log.sort()).toEqual([1, 2].map((place) => `replica_${place}: standby is used`));
  });

  it('are used while the primary writes nothing', async () => {
    const standbys = await inUse();

    for (const end = performance.now() + 6_000; performance.now() < end; await delay(500)) {
      await standbys.compare();
      expect(standbys.choose()).not.toBeNull();
    }
  });

  it('are unused while they lag more than five seconds, and used again when they have caught up', async () => {
    const standbys = await inUse();
    await standby.pauseReplay();

    const usedFor = await untilUsed(false, standbys).finally(() => standby.resumeReplay());

    expect(usedFor).toBeGreaterThan(3_000);
    expect(usedFor).toBeLessThan(6_000);
    expect(log.at(-1)).toBe('replica_1: standby is not used: it lags more than 5 s');
    await untilUsed(true, standbys);
  });

  it.each(['refuse', 'blackhole'] as const)(
    'are unused five seconds after they were cut off from the primary (%s)',
    async (fault) => {
      const standbys = await inUse();
      await source.set(fault);

      const usedFor = await untilUsed(false, standbys).finally(() => source.set('forward'));

      expect(usedFor).toBeLessThan(6_000);
      await untilUsed(true, standbys);
    },
  );

  it('are unused five seconds after the primary stopped responding', async () => {
    const before = await TcpProxy.to('127.0.0.1', primary.port);
    closed.push(() => before.close());
    const url = new URL(primary.databaseUrl);
    url.port = String(before.port);
    const standbys = standbysOf(url.toString(), throughProxy());
    await untilUsed(true, standbys, false);

    await before.set('refuse');

    expect(await untilUsed(false, standbys)).toBeLessThan(6_000);
  });

  it('are unused for five seconds after a read lost its connection', async () => {
    const standbys = await inUse();

    await expect(read(standbys, 'SELECT pg_terminate_backend(pg_backend_pid())')).rejects.toThrow('terminating');

    expect(standbys.choose()).toBeNull();
    expect(log.at(-1)).toBe('replica_1: standby is not used: it failed a read (57P01)');
    expect(await untilUsed(true, standbys)).toBeGreaterThan(4_000);
  });

  it('are used on after a statement that was cancelled by its timeout', async () => {
    const standbys = await inUse();

    await expect(read(standbys, 'SELECT pg_sleep(3)')).rejects.toMatchObject({ code: '57014' });

    expect(standbys.choose()).not.toBeNull();
  });

  it('are unused for five seconds after five reads in a row failed, whatever the reason', async () => {
    const standbys = await inUse();
    const fail = (): Promise<void> => expect(read(standbys, 'SELECT 1 / 0')).rejects.toMatchObject({ code: '22012' });

    for (let failed = 0; failed < 4; failed += 1) await fail();
    await read(standbys, 'SELECT 1');
    for (let failed = 0; failed < 4; failed += 1) await fail();
    expect(standbys.choose()).not.toBeNull();
    await fail();

    expect(standbys.choose()).toBeNull();
    expect(log.at(-1)).toBe('replica_1: standby is not used: it failed a read (22012)');
  });

  it.each([
    ['refuse', 300],
    ['blackhole', 2_000],
  ] as const)('abandon a read in time when they are lost (%s)', async (fault, withinMs) => {
    const standbys = await inUse();
    await read(standbys, 'SELECT 1');
    await way.set(fault);

    const since = performance.now();
    const outcome = read(standbys, 'SELECT 1').finally(() => way.set('forward'));

    await expect(outcome).rejects.toThrow();
    expect(performance.now() - since).toBeLessThan(withinMs);
    expect(standbys.choose()).toBeNull();
  });

  it('count connections, and those that were not free in time, and are used on', async () => {
    const standbys = await inUse();
    const slow = [1, 2].map(() => read(standbys, 'SELECT pg_sleep(0.7)'));

    const late = [1, 2, 3, 4, 5].map(() => read(standbys, 'SELECT 1'));
    for (const one of late) await expect(one).rejects.toThrow(/timeout exceeded/);

    expect(standbys.uses).toMatchObject([{ size: 2, inUse: 2, idle: 0, waiting: 0, timeouts: 5, isUsed: true }]);
    await Promise.all(slow);
    expect(standbys.uses[0]).toMatchObject({ inUse: 0, idle: 2, timeouts: 5 });
  });

  it('accept only reads', async () => {
    const standbys = await inUse();

    await expect(read(standbys, 'CREATE TEMPORARY TABLE written_here ()')).rejects.toMatchObject({ code: '25006' });
  });

  it('are unused while the primary does not tell the end of its log, which the log says once', async () => {
    const away = new URL(primary.databaseUrl);
    away.port = '1';
    const standbys = standbysOf(away.href, standby.url(primary.databaseUrl));

    await standbys.compare();
    await standbys.compare();

    const reason = 'the primary does not tell the end of its log (ECONNREFUSED)';
    expect([standbys.choose(), log]).toEqual([null, [`replica_1: standby is not used: ${reason}`]]);
  });

  describe('are unused', () => {
    const unfit = 'replica_1: standby is not used: it is no standby of this primary';

    it('when they are the primary itself', async () => {
      const standbys = standbysOf(primary.databaseUrl, primary.databaseUrl);

      await standbys.compare();

      expect([standbys.choose(), log]).toEqual([null, [unfit]]);
    });

    it('when they copy another database', async () => {
      // The run's data would make it a copy of the same system.
      delete process.env['TEST_FRESH_CLUSTER'];
      const other = await startTemporaryPostgres();
      closed.push(() => other.stop());
      // The log of this system is longer, so positions alone would make the standby look complete.
      const standbys = standbysOf(other.databaseUrl, standby.url(primary.databaseUrl));

      await standbys.compare();

      expect([standbys.choose(), log]).toEqual([null, [unfit]]);
    });

    it('once they were promoted, and when a failover left them behind', async () => {
      const promoted = await StandbyPostgres.of(primary, 'promoted');
      closed.push(() => promoted.stop());
      await promoted.caughtUp(primary);
      const promotedUrl = promoted.url(primary.databaseUrl);
      const before = standbysOf(primary.databaseUrl, promotedUrl);
      await untilUsed(true, before, false);

      await promoted.promote();
      await before.compare();

      expect([before.choose(), log.at(-1)]).toEqual([null, unfit]);
      log = [];
      // Later writes of the former primary exist only in this standby.
      await admin.query('INSERT INTO written SELECT generate_series(1, 1000)');
      await standby.caughtUp(primary);
      const after = standbysOf(promotedUrl, standby.url(primary.databaseUrl));
      await after.compare();
      expect([after.choose(), log]).toEqual([null, [unfit]]);
    });
  });
});
