/** @quiet On a busy machine a standby counts as stale while its replay is held, and is not used again. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { clientKey } from '#libs/platform/throttling';
import type { ApiResponse, ApiClient } from '../support/api-client';
import { withRedis } from '../support/redis-connection';
import { redisOfTheRun } from '../support/redis-of-the-run';
import { type DatabaseWithStandby, createDatabaseWithStandby } from '../support/database-with-standby';
import { ApiUnderWatch } from '../support/api-under-watch';
import { type TestApp, startAppOn } from '../support/start-app';
import { TcpProxy } from '../support/tcp-proxy';

const REDIS_URL = redisOfTheRun();
const USED = 'standby is used';
const UNUSED = 'standby is not used';

describe('With a standby', () => {
  let database: DatabaseWithStandby;
  let workspace: string;
  let asset: string;
  const started: TestApp[] = [];
  const logs: TestApp['logLines'][] = [];
  beforeAll(async () => {
    database = await createDatabaseWithStandby();
  });
  afterAll(async () => {
    await database.standby.resumeReplay().catch(() => undefined);
    await Promise.all(started.map((app) => app.stop()));
    await database.drop();
  });

  /** Starts an instance that uses the standby. */
  const start = async (overrides: Record<string, string>): Promise<TestApp> => {
    const before = timesSaid(USED);
    const app = await startAppOn(database, { DATABASE_REPLICA_URLS: database.standbyUrl, ...overrides });
    started.push(app);
    logs.push(app.logLines);
    await untilSaid(USED, before + 1);
    return app;
  };
  const stop = async (app: TestApp): Promise<void> => {
    started.splice(started.indexOf(app), 1);
    await app.stop();
  };
  /** Counts log lines of any instance: instances of one process share a log. */
  const timesSaid = (words: string): number =>
    logs.flat().filter(({ message }) => String(message).includes(words)).length;
  const untilSaid = async (words: string, times: number): Promise<void> => {
    for (const deadline = Date.now() + 60_000; timesSaid(words) < times; await delay(100)) {
      if (Date.now() > deadline) throw new Error(`not said ${times} times: ${words}`);
    }
  };
  const untilSaidBy = async (app: TestApp, words: string): Promise<void> => {
    for (const deadline = Date.now() + 60_000; ; await delay(50)) {
      if (app.logLines.some(({ message }) => String(message).includes(words))) return;
      if (Date.now() > deadline) throw new Error(`not said: ${words}`);
    }
  };
  const nameOf = async (client: ApiClient): Promise<unknown> =>
    (await client.get(`/v1/inventory/assets/${asset}`)).body['name'];
  /** On a busy machine the standby may be too slow for a read, and the primary responds. */
  const untilRead = async (
    client: ApiClient,
    name: string,
    path = `/v1/inventory/assets/${asset}`,
  ): Promise<ApiResponse> => {
    for (const deadline = Date.now() + 60_000; ; await delay(50)) {
      const read = await client.get(path);
      const [listed] = (read.body['results'] ?? [read.body]) as ApiResponse['body'][];
      if (listed?.['name'] === name) return read;
      if (Date.now() > deadline) throw new Error(`${path} never has ${name}`);
    }
  };
  const rename = (name: string) =>
    database.admin.query('UPDATE asset SET name = $2 WHERE public_id = $1', [asset, name]);
  const aReader = (app: TestApp): Promise<ApiClient> => app.arrange.aClient(workspace);
  const arrange = async (app: TestApp): Promise<void> => {
    workspace = await app.arrange.aWorkspace();
    asset = (await app.arrange.anAsset(workspace, { type: 'COMPUTER', name: 'before' })).id;
    await database.standby.caughtUp(database.primary);
  };
  const replayHeld = async (work: () => Promise<void>): Promise<void> => {
    await database.standby.caughtUp(database.primary);
    await database.standby.pauseReplay();
    try {
      await work();
    } finally {
      await database.standby.resumeReplay();
    }
  };

  describe('and Redis', () => {
    let one: TestApp;
    let other: TestApp;
    beforeAll(async () => {
      [one, other] = [await start({ REDIS_URL }), await start({ REDIS_URL })];
    });
    afterAll(async () => {
      for (const app of [one, other]) await stop(app);
    });
    beforeEach(() => arrange(one));
    const anApplication = async (): Promise<{ clientId: string; token: string }> => {
      const { clientId, clientSecret } = await one.arrange.anApplication(workspace);
      const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
      return { clientId, token: (await one.client().requestToken(form)).body['access_token'] as string };
    };

    it('lists and reads by id come from the standby', async () => {
      const reader = await aReader(other);
      const stranger = await other.arrange.aClient(await other.arrange.aWorkspace());

      await replayHeld(async () => {
        await rename('after');

        for (const path of ['/v1/inventory/assets', `/v1/inventory/assets/${asset}`])
          await untilRead(reader, 'before', path);
        for (const path of ['/v1/computers', `/v1/computers/${asset}`]) await untilRead(reader, 'before', path);
        expect((await stranger.page('/v1/inventory/assets')).results).toEqual([]);
      });
    });

    it('a past state comes from the standby, or from the primary when the instant is newer', async () => {
      const reader = await aReader(other);
      const now = async (): Promise<string> => {
        const { rows } = await database.admin.query<{ now: Date }>('SELECT clock_timestamp() AS now');
        await delay(2);
        return (rows[0]?.now as Date).toISOString();
      };
      const old = `/v1/inventory/assets/${asset}?asOf=${await now()}`;
      await rename('after');
      await replayHeld(async () => {
        // Only the primary has this past.
        const past = `UPDATE asset_version SET name = 'of the primary' WHERE workspace_id = $1`;
        await database.admin.query(past, [workspace]);
        await rename('newest');

        await untilRead(reader, 'before', old);
        await untilRead(reader, 'after');
        const newer = await reader.get(`/v1/inventory/assets/${asset}?asOf=${await now()}`);
        expect(newer.body['name']).toBe('newest');
      });
    });

    it('a change feed comes from the standby, or from the primary when the cursor is newer', async () => {
      const [reader, newest] = [await aReader(other), await aReader(one)];
      const changes = '/v1/inventory/changes';
      const { resumeCursor: old } = (await reader.get(changes)).body;

      await replayHeld(async () => {
        await rename('after');
        const { resumeCursor } = (await newest.get(`${changes}?since=now`)).body;

        // On a busy machine the primary responds.
        for (const deadline = Date.now() + 60_000; Date.now() < deadline; await delay(50)) {
          const { body } = await reader.get(`${changes}?pageCursor=${String(old)}`);
          if ((body['results'] as unknown[]).length === 0) break;
        }
        const read = await reader.get(`${changes}?pageCursor=${String(resumeCursor)}`);
        expect([read.status, read.body['results']]).toEqual([200, []]);
      });
    });

    it('a client that asked for since=now gets every later change from every instance', async () => {
      const { token } = await anApplication();
      const [reader, follower, followerElsewhere] = [await aReader(other), one.client(token), other.client(token)];

      await replayHeld(async () => {
        await rename('after');
        for (const client of [reader, follower, followerElsewhere]) await untilRead(client, 'before');
        await follower.get('/v1/computers/changes?since=now');

        expect([await nameOf(follower), await nameOf(followerElsewhere)]).toEqual(['after', 'after']);
        await untilRead(reader, 'before');
      });
    });

    it('a client reads its own write at once from every instance', async () => {
      const { token } = await anApplication();
      const [reader, writer, writerElsewhere] = [await aReader(other), one.client(token), other.client(token)];

      await replayHeld(async () => {
        await rename('after');
        for (const client of [reader, writer, writerElsewhere]) await untilRead(client, 'before');
        const written = await writer.patch(`/v1/inventory/assets/${asset}`, { description: 'mine' });
        expect(written.status).toBe(200);

        for (const client of [writer, writerElsewhere]) {
          const read = await client.get(`/v1/inventory/assets/${asset}`);
          expect([read.body['name'], read.body['description']]).toEqual(['after', 'mine']);
          const [listed] = (await client.page('/v1/inventory/assets')).results;
          expect([listed?.['name'], listed?.['description']]).toEqual(['after', 'mine']);
        }
        await untilRead(reader, 'before');
      });
    });

    it('a client reads what it wrote through an instance that has no standby, as while the first one is added', async () => {
      const { token } = await anApplication();
      const without = await startAppOn(database, { REDIS_URL });
      const reader = other.client(token);
      try {
        await replayHeld(async () => {
          await rename('after');
          await untilRead(reader, 'before');
          await without.client(token).patch(`/v1/inventory/assets/${asset}`, { description: 'mine' });
          expect(await nameOf(reader)).toBe('after');
        });
      } finally {
        await without.stop();
      }
    });

    it('a client reads from the primary for ten seconds after a write, then from the standby', async () => {
      const { clientId, token } = await anApplication();
      const [reader, writer, writerElsewhere] = [await aReader(other), one.client(token), other.client(token)];
      await writer.patch(`/v1/inventory/assets/${asset}`, { description: 'mine' });

      expect(await millisecondsUntilStandby(clientId)).toBeGreaterThan(10_000);
      await replayHeld(async () => {
        await rename('after');

        await untilRead(reader, 'before');
        expect([await nameOf(writer), await nameOf(writerElsewhere)]).toEqual(['after', 'after']);
        await endMemoryOfWrite(clientId);
        for (const client of [writer, writerElsewhere]) await untilRead(client, 'before');
      });
    });

    it("a client that was refused for an asset's state reads that state", async () => {
      const client = await aReader(one);
      await replayHeld(async () => {
        await database.admin.query(`UPDATE asset SET version = 7, name = 'after' WHERE public_id = $1`, [asset]);
        const path = `/v1/inventory/assets/${asset}`;
        const seen = (await untilRead(client, 'before')).headers.get('ETag') as string;
        expect((await client.patch(path, { description: 'x' }, { 'If-Match': seen })).status).toBe(412);
        const newer = (await client.get(path)).headers.get('ETag') as string;
        expect((await client.patch(path, { description: 'x' }, { 'If-Match': newer })).status).toBe(200);
      });
    });

    it('every read goes to the primary while Redis is away, and until its missing writes have expired', async () => {
      const address = new URL(REDIS_URL);
      const proxy = await TcpProxy.to(address.hostname, Number(address.port));
      address.port = String(proxy.port);
      const cutOff = await start({ REDIS_URL: address.toString() });
      const [reader, readerElsewhere] = [await aReader(cutOff), await aReader(other)];
      try {
        await replayHeld(async () => {
          await rename('after');
          await untilRead(reader, 'before');
          await proxy.set('refuse');
          expect(await nameOf(reader)).toBe('after');
          await proxy.set('forward');
          await untilSaidBy(cutOff, 'Redis is back');
          expect(await nameOf(reader)).toBe('after');
          await untilRead(readerElsewhere, 'before');
        });
      } finally {
        await stop(cutOff);
        await proxy.close();
      }
    });

    it('no response fails when the standby is killed, and it is used again when it is back', async () => {
      const readers = await Promise.all([aReader(one), aReader(other)]);
      let [over, count] = [false, 0];
      const responses = new Set<number>();
      const reading = readers.flatMap((reader) =>
        [1, 2, 3].map(async () => {
          while (!over) {
            responses.add((await reader.get(`/v1/inventory/assets/${asset}`)).status);
            count += 1;
            await delay(20);
          }
        }),
      );
      await delay(300);
      const before = { used: timesSaid(USED), unused: timesSaid(UNUSED) };
      let unused: number;
      try {
        database.standby.kill();
        await untilSaid(UNUSED, before.unused + 2);
        // Each instance says it once, however often it looks.
        await delay(1_000);
        unused = timesSaid(UNUSED);
        await database.standby.startAgain();
        await untilSaid(USED, before.used + 2);
      } finally {
        over = true;
      }
      await Promise.all(reading);
      expect([...responses]).toEqual([200]);
      expect(count).toBeGreaterThan(20);
      expect(unused).toBe(before.unused + 2);
    });
  });

  it('without Redis the only instance remembers who wrote', async () => {
    const app = await start({});
    await arrange(app);
    const [reader, writer, follower] = [await aReader(app), await aReader(app), await aReader(app)];
    await replayHeld(async () => {
      await follower.get('/v1/inventory/changes?since=now');
      expect((await writer.patch(`/v1/inventory/assets/${asset}`, { description: 'mine' })).status).toBe(200);
      await rename('after');
      expect([await nameOf(writer), await nameOf(follower)]).toEqual(['after', 'after']);
      await untilRead(reader, 'before');
    });
  });

  it('reads go to the primary when the address is no standby, and one log line says so', async () => {
    const app = await startAppOn(database, { DATABASE_REPLICA_URLS: database.databaseUrl, REDIS_URL });
    started.push(app);
    logs.push(app.logLines);
    await arrange(app);
    expect(await nameOf(await aReader(app))).toBe('before');
    await delay(2_500);
    expect(app.logLines.filter(({ message }) => message === UNUSED)).toMatchObject([
      { pool: 'replica_1', reason: 'it is no standby of this primary' },
    ]);
  });

  it("metrics show the standby's pool, its lag and whether it is used", async () => {
    const urls = [database.standbyUrl, database.databaseUrl].join(',');
    const api = await ApiUnderWatch.start(database, { DATABASE_REPLICA_URLS: urls, DATABASE_POOL_SIZE: '7' });
    try {
      const used = 'compliance_database_replica_used';
      await api.sample(`${used}{pool="replica_1"}`, (value) => value === 1);
      const client = await api.arrange.aClient(workspace);
      for (const _time of ['first', 'again']) await client.get('/v1/inventory/assets');
      const samples = await api.samples();
      const of = (metric: string, labels: string) =>
        ['primary', 'replica_1', 'replica_2'].map((pool) => samples.get(`${metric}{pool="${pool}"${labels}}`));
      expect(of(used, '')).toEqual([undefined, 1, 0]);
      const [, lag = NaN, lagOfNoStandby] = of('compliance_database_replica_lag_seconds', '');
      expect(lag).toBeGreaterThan(0);
      expect(lag).toBeLessThan(5);
      expect(lagOfNoStandby).toBeUndefined();
      expect(of('compliance_database_pool_size', '')).toEqual([7, 7, 7]);
      expect(of('compliance_database_pool_waiting', '')).toEqual([0, 0, 0]);
      expect(of('compliance_database_acquisition_timeouts_total', '')).toEqual([0, 0, 0]);
      const [primary = 0, ...standbys] = of('compliance_database_pool_connections', ',state="idle"');
      expect([primary > 0, ...standbys]).toEqual([true, 1, 1]);
    } finally {
      await api.stop();
    }
  });

  /** Returns for how long the client still reads from the primary. */
  async function millisecondsUntilStandby(clientId: string): Promise<number> {
    return withRedis(REDIS_URL, async (redis) => {
      const until = Number(await redis.hget(clientKey(clientId), 'newestUntil'));
      return Math.min((until - (await microsecondsOf(redis))) / 1_000, await redis.pttl(clientKey(clientId)));
    });
  }

  /** Simulates that this time has passed. */
  async function endMemoryOfWrite(clientId: string): Promise<void> {
    await withRedis(REDIS_URL, async (redis) => {
      expect(await redis.hset(clientKey(clientId), 'newestUntil', await microsecondsOf(redis))).toBe(0);
    });
  }

  async function microsecondsOf(redis: Redis): Promise<number> {
    const [seconds, microseconds] = await redis.time();
    return Number(seconds) * 1_000_000 + Number(microseconds);
  }
});
