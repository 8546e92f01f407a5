import { setTimeout as delay } from 'node:timers/promises';
import { clientKey } from '#libs/platform';
import type { Answer, ApiClient } from '../support/api-client';
import { type ReplicatedDatabase, createReplicatedDatabase } from '../support/replicated-database';
import { ApiUnderWatch } from '../support/api-under-watch';
import { type TestApp, startAppOn } from '../support/start-app';
import { TcpProxy } from '../support/tcp-proxy';

const REDIS_URL = process.env['TEST_REDIS_URL'] as string;
/** Two looks at where everybody is, and what a busy machine may add. */
const SETTLED_MS = 2_500;
const USED = 'Replica 1 of DATABASE_REPLICA_URLS is used.';
const UNUSED = 'Replica 1 of DATABASE_REPLICA_URLS is not used';

describe('With a read replica', () => {
  let database: ReplicatedDatabase;
  let workspace: string;
  let asset: string;
  const started: TestApp[] = [];
  const logs: TestApp['logLines'][] = [];
  beforeAll(async () => {
    database = await createReplicatedDatabase();
  });
  afterAll(async () => {
    await database.standby.resumeReplay().catch(() => undefined);
    await Promise.all(started.map((app) => app.stop()));
    await database.drop();
  });

  /** Serving, and leading reads to the replica. */
  const start = async (overrides: Record<string, string>): Promise<TestApp> => {
    const before = timesSaid(USED);
    const app = await startAppOn(database, { DATABASE_REPLICA_URLS: database.replicaUrl, ...overrides });
    started.push(app);
    logs.push(app.logLines);
    await untilSaid(USED, before + 1);
    return app;
  };
  const stop = async (app: TestApp): Promise<void> => {
    started.splice(started.indexOf(app), 1);
    await app.stop();
  };
  /** By any of the applications: those of one process have one log between them. */
  const timesSaid = (words: string): number =>
    logs.flat().filter(({ message }) => String(message).includes(words)).length;
  /** A replica is used once it is seen to move, so the primary must have something to send. */
  const untilSaid = async (words: string, times: number): Promise<void> => {
    for (const deadline = Date.now() + 60_000; timesSaid(words) < times; await delay(100)) {
      if (Date.now() > deadline) throw new Error(`not said ${times} times: ${words}`);
      await database.admin.query('SELECT txid_current()');
    }
  };
  const nameOf = async (client: ApiClient): Promise<unknown> =>
    (await client.get(`/v1/inventory/assets/${asset}`)).body['name'];
  /** On a busy machine the replica may seem too slow to be asked for a moment; the primary answers instead then. */
  const untilRead = async (
    client: ApiClient,
    name: string,
    path = `/v1/inventory/assets/${asset}`,
  ): Promise<Answer> => {
    for (const deadline = Date.now() + 60_000; ; await delay(50)) {
      const read = await client.get(path);
      const [listed] = (read.body['results'] ?? [read.body]) as Answer['body'][];
      if (listed?.['name'] === name) return read;
      if (Date.now() > deadline) throw new Error(`${path} never has ${name}`);
    }
  };
  const rename = (name: string) =>
    database.admin.query('UPDATE asset SET name = $2 WHERE public_id = $1', [asset, name]);
  /** A client that may read the replica: it was seen before, and has written nothing since. */
  const aReader = async (app: TestApp): Promise<ApiClient> => {
    const client = await app.arrange.aClient(workspace);
    await nameOf(client);
    return client;
  };
  const arrange = async (app: TestApp): Promise<void> => {
    workspace = await app.arrange.aWorkspace();
    asset = (await app.arrange.anAsset(workspace, { type: 'COMPUTER', name: 'before' })).id;
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

    it('lists and reads by id come from it, and whoever has written reads its own write from every process at once', async () => {
      const reader = await aReader(other);
      const { token } = await anApplication();
      const [writer, writerElsewhere] = [one.client(token), other.client(token)];
      await nameOf(writer);
      const stranger = await other.arrange.aClient(await other.arrange.aWorkspace());
      await stranger.page('/v1/inventory/assets');
      await delay(SETTLED_MS);
      await replayHeld(async () => {
        await rename('after');
        for (const client of [reader, writer, writerElsewhere]) await untilRead(client, 'before');
        for (const path of ['/v1/inventory/assets', '/v1/computers']) {
          await untilRead(reader, 'before', path);
          expect((await stranger.page(path)).results).toEqual([]);
        }
        await untilRead(reader, 'before', `/v1/computers/${asset}`);

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
      await delay(SETTLED_MS);
      await database.standby.caughtUp(database.primary);
      await replayHeld(async () => {
        await rename('much later');
        expect([await nameOf(writer), await nameOf(writerElsewhere)]).toEqual(['after', 'after']);
      });
    });

    it('whoever was refused for the state of an asset reads that state', async () => {
      const client = await aReader(one);
      await delay(SETTLED_MS);
      await replayHeld(async () => {
        await database.admin.query(`UPDATE asset SET version = 7, name = 'after' WHERE public_id = $1`, [asset]);
        const path = `/v1/inventory/assets/${asset}`;
        const seen = (await untilRead(client, 'before')).headers.get('ETag') as string;
        expect((await client.patch(path, { description: 'x' }, { 'If-Match': seen })).status).toBe(412);
        const newer = (await client.get(path)).headers.get('ETag') as string;
        expect((await client.patch(path, { description: 'x' }, { 'If-Match': newer })).status).toBe(200);
      });
    });

    it('a client that Redis has forgotten reads from the primary', async () => {
      const { clientId, token } = await anApplication();
      const reader = one.client(token);
      await nameOf(reader);
      await delay(SETTLED_MS);
      await replayHeld(async () => {
        await rename('after');
        await untilRead(reader, 'before');
        await forget(clientId);
        expect(await nameOf(reader)).toBe('after');
      });
    });

    it('while it is away everybody reads from the primary, and a write is answered once the replica shows it', async () => {
      const address = new URL(REDIS_URL);
      const proxy = await TcpProxy.to(address.hostname, Number(address.port));
      address.port = String(proxy.port);
      const cutOff = await start({ REDIS_URL: address.toString() });
      const reader = await aReader(cutOff);
      const { token } = await anApplication();
      await nameOf(other.client(token));
      await delay(SETTLED_MS);
      await proxy.set('refuse');
      await replayHeld(async () => {
        await rename('after');
        expect(await nameOf(reader)).toBe('after');
        const writing = cutOff.client(token).patch(`/v1/inventory/assets/${asset}`, { description: 'unnoted' });
        const early = await Promise.race([writing, delay(400)]);
        expect(early).toBeUndefined();
        await database.standby.resumeReplay();
        expect((await writing).status).toBe(200);
        await replayHeld(async () => {
          await rename('later');
          const read = await other.client(token).get(`/v1/inventory/assets/${asset}`);
          // From the standby, or from the primary where Redis was slow: either shows the write that could not be noted.
          expect(read.body['description']).toBe('unnoted');
        });
      });
      await stop(cutOff);
      await proxy.close();
    });

    it('one that is killed costs no answer, and is used again when it is back', async () => {
      const readers = await Promise.all([aReader(one), aReader(other)]);
      await delay(SETTLED_MS);
      let [over, count] = [false, 0];
      const answers = new Set<number>();
      const reading = readers.flatMap((reader) =>
        [1, 2, 3].map(async () => {
          while (!over) {
            answers.add((await reader.get(`/v1/inventory/assets/${asset}`)).status);
            count += 1;
          }
        }),
      );
      await delay(300);
      const before = { used: timesSaid(USED), unused: timesSaid(UNUSED) };
      try {
        database.standby.kill();
        await untilSaid(UNUSED, before.unused + 2);
        await database.standby.startAgain();
        await untilSaid(USED, before.used + 2);
      } finally {
        over = true;
      }
      await Promise.all(reading);
      expect([...answers]).toEqual([200]);
      expect(count).toBeGreaterThan(20);
      expect(timesSaid(UNUSED)).toBe(before.unused + 2);
    });
  });

  it('and no Redis, the one process remembers by itself who has written', async () => {
    const app = await start({});
    await arrange(app);
    const [reader, writer] = [await aReader(app), await aReader(app)];
    await database.standby.caughtUp(database.primary);
    await delay(SETTLED_MS);
    await replayHeld(async () => {
      expect((await writer.patch(`/v1/inventory/assets/${asset}`, { description: 'mine' })).status).toBe(200);
      await rename('after');
      expect(await nameOf(writer)).toBe('after');
      await untilRead(reader, 'before');
    });
  });

  it('that is no standby, reads go to the primary, and the log says so once', async () => {
    const app = await startAppOn(database, { DATABASE_REPLICA_URLS: database.databaseUrl, REDIS_URL });
    started.push(app);
    logs.push(app.logLines);
    await arrange(app);
    expect(await nameOf(await aReader(app))).toBe('before');
    await delay(1_500);
    expect(timesSaid(`${UNUSED}: it is no standby`)).toBe(1);
  });

  it('its pool stands among the metrics beside that of the primary, and whether it is used', async () => {
    const urls = [database.replicaUrl, database.databaseUrl].join(',');
    const api = await ApiUnderWatch.start(database, { DATABASE_REPLICA_URLS: urls, DATABASE_POOL_SIZE: '7' });
    try {
      const moving = setInterval(() => void database.admin.query('SELECT txid_current()'), 100);
      const used = 'compliance_database_replica_used';
      await api.sample(`${used}{pool="replica_1"}`, (value) => value === 1).finally(() => clearInterval(moving));
      const client = await api.arrange.aClient(workspace);
      for (const _time of ['first', 'again']) await client.get('/v1/inventory/assets');
      const samples = await api.samples();
      const of = (metric: string, labels: string) =>
        ['primary', 'replica_1', 'replica_2'].map((pool) => samples.get(`${metric}{pool="${pool}"${labels}}`));
      expect(of(used, '')).toEqual([undefined, 1, 0]);
      expect(of('compliance_database_pool_size', '')).toEqual([7, 7, 7]);
      expect(of('compliance_database_pool_waiting', '')).toEqual([0, 0, 0]);
      expect(of('compliance_database_acquisition_timeouts_total', '')).toEqual([0, 0, 0]);
      const [primary = 0, ...replicas] = of('compliance_database_pool_connections', ',state="idle"');
      expect([primary > 0, ...replicas]).toEqual([true, 1, 0]);
    } finally {
      await api.stop();
    }
  });

  async function forget(clientId: string): Promise<void> {
    const { Redis } = await import('ioredis');
    const redis = new Redis(REDIS_URL);
    expect(await redis.hdel(clientKey(clientId), 'wroteAt')).toBe(1);
    redis.disconnect();
  }
});
