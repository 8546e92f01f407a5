import { type Arrangement } from '../support/arrangement';
import { TcpProxy } from '../support/tcp-proxy';
import { startTemporaryRedis } from '../support/temporary-redis';
import { FaultSetting } from './fault-setting';
import { MixedLoad } from './mixed-load';
import { MINUTE, sized } from './sizes';

const INSTANCES = sized({ short: 1, long: 3 });
const ROUNDS = sized({ short: 1, long: 5 });
/** In one direction: a round trip takes twice as long. */
const LATENCY_MS = 200;
/** Minimum number of responses of each kind in each phase. Tokens take two seconds while Redis is away. */
const RESPONSES = sized({ short: 10, long: 20 });
const TOKENS = sized({ short: 1, long: 5 });
const RESETS = sized({ short: 12, long: 300 });

describe('Between the API and its services', () => {
  let setting: FaultSetting;
  let arrange: Arrangement;
  let postgres: TcpProxy;
  let redis: TcpProxy;
  beforeAll(async () => {
    setting = await FaultSetting.open({ redis: await startTemporaryRedis() });
    const [toPostgres, databaseUrl] = await through(setting.databases.databaseUrl);
    const [toRedis, redisUrl] = await through(setting.redis.url);
    [postgres, redis] = [toPostgres, toRedis];
    const own = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl };
    await setting.startInstances(...Array.from({ length: INSTANCES }, () => own));
  }, MINUTE);
  afterAll(async () => {
    await setting.close();
    await postgres.close();
    await redis.close();
  }, MINUTE);
  beforeEach(async () => {
    arrange = await setting.enterWorkspace();
  });
  afterEach(async () => {
    postgres.slowDown(0);
    redis.slowDown(0);
    await MixedLoad.abandonAll();
  }, MINUTE);

  /** Waits for responses to requests of every kind. */
  const all = (load: MixedLoad, phase: string): Promise<void> =>
    load.until(phase, 'ok', { list: RESPONSES, get: RESPONSES, write: RESPONSES, token: TOKENS });
  const endOf = async (load: MixedLoad): Promise<void> => {
    await load.end();
    expect(load.faults).toEqual([]);
    expect(await setting.faults()).toEqual([]);
  };

  it(
    'slow Postgres delays no request beyond its limit and fails none',
    async () => {
      const load = await MixedLoad.begin(setting, arrange);
      for (let round = 0; round < ROUNDS; round += 1) {
        await all(load, 'Postgres quick');
        postgres.slowDown(LATENCY_MS);
        await all(load, 'Postgres slow');
        postgres.slowDown(0);
      }
      await all(load, 'Postgres quick again');
      await endOf(load);
    },
    ROUNDS * MINUTE,
  );

  it(
    'slow Redis fails no request, and Redis is used again once it is fast',
    async () => {
      const load = await MixedLoad.begin(setting, arrange);
      for (let round = 0; round < ROUNDS; round += 1) {
        await all(load, 'Redis quick');
        redis.slowDown(LATENCY_MS);
        await all(load, 'Redis slow');
        redis.slowDown(0);
        await setting.findsRedis();
      }
      await endOf(load);
      // A read that waited for Redis would take at least as long as its reply.
      expect(load.median('Redis slow', 'get')).toBeLessThan(2 * LATENCY_MS);
      expect(load.heard.filter(({ word }) => word !== 'ok')).toEqual([]);
    },
    ROUNDS * MINUTE,
  );

  it.each([
    ['Postgres', () => postgres],
    ['Redis', () => redis],
  ])(
    '%s losing connections at random causes nothing but 503, and retries apply once',
    async (name, path) => {
      const load = await MixedLoad.begin(setting, arrange);
      await all(load, 'whole');
      const lost = `connections to ${name} lost`;
      for (let resets = 0; resets < RESETS; resets += path().resetOne() ? 1 : 0) await load.during(lost, 50);
      await all(load, lost);
      await all(load, `${name} whole again`);
      if (name === 'Redis') await setting.findsRedis();
      await endOf(load);
      if (name === 'Redis') expect(load.heard.filter(({ word }) => word !== 'ok')).toEqual([]);
    },
    sized({ short: 1, long: 3 }) * MINUTE,
  );
});

/** Returns a proxy to the server at this address, and the address of the proxy. */
async function through(address: string): Promise<[TcpProxy, string]> {
  const url = new URL(address);
  const proxy = await TcpProxy.to(url.hostname, Number(url.port));
  url.port = String(proxy.port);
  return [proxy, url.href];
}
