import { freePort } from '../support/free-port';
import { withRedis } from '../support/redis-connection';
import { startTemporaryRedis } from '../support/temporary-redis';
import { until } from '../support/until';
import { FaultSetting } from './fault-setting';
import { MixedLoad } from './mixed-load';
import { MINUTE, sized } from './sizes';

const INSTANCES = sized({ short: 1, long: 3 });
const ROUNDS = sized({ short: 1, long: 10 });
const RESPONSES = sized({ short: 10, long: 40 });
/** A token takes two seconds while Redis is away. */
const TOKENS = sized({ short: 1, long: 3 });

describe('While Redis replies but accepts no writes', () => {
  let setting: FaultSetting;
  beforeAll(async () => {
    setting = await FaultSetting.open({ redis: await startTemporaryRedis() });
    await setting.startInstances(...Array.from({ length: INSTANCES }, () => ({})));
  }, MINUTE);
  afterEach(() => MixedLoad.abandonAll(), MINUTE);
  afterAll(() => setting.close(), MINUTE);

  const tell = (...words: readonly [string, ...string[]]): Promise<unknown> =>
    withRedis(setting.redis.url, (redis) => redis.call(...words));

  it.each([
    [
      'because its memory is full',
      async () => {
        await tell('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
        await tell('CONFIG', 'SET', 'maxmemory', '1');
      },
      () => tell('CONFIG', 'SET', 'maxmemory', '0'),
    ],
    [
      'because it became a replica',
      async () => void (await tell('REPLICAOF', '127.0.0.1', String(await freePort()))),
      () => tell('REPLICAOF', 'NO', 'ONE'),
    ],
  ])(
    '%s, no request fails, each key applies once, and Redis is used again afterwards',
    async (_why, refuse, takeAgain) => {
      const load = await MixedLoad.begin(setting, await setting.enterWorkspace());
      const all = { list: RESPONSES, get: RESPONSES, write: RESPONSES, token: TOKENS };
      try {
        for (let round = 0; round < ROUNDS; round += 1) {
          await load.until('taking', 'ok', all);
          const before = setting.instances.map(({ timesWithoutRedis }) => timesWithoutRedis);
          await refuse();
          await load.until('refusing', 'ok', all);
          // Each instance tells that it works without Redis.
          await until(() => setting.instances.every((one, n) => one.timesWithoutRedis !== before[n]));
          await takeAgain();
          await setting.findsRedis();
        }
      } finally {
        await takeAgain();
      }
      await load.end();
      expect(load.heard.filter(({ word }) => word !== 'ok')).toEqual([]);
      expect(load.faults).toEqual([]);
      expect(await setting.faults()).toEqual([]);
    },
    ROUNDS * MINUTE,
  );
});
