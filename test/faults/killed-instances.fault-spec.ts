import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { startTemporaryRedis } from '../support/temporary-redis';
import { tally } from './response-faults';
import { FaultSetting } from './fault-setting';
import { FeedFollower } from './feed-follower';
import { type Operation } from './operation-log';
import { MINUTE, sized, tell } from './sizes';

const KEYS = sized({ short: 120, long: 10_000 });
/** Minimum number of kills in a run. */
const KILLS = sized({ short: 3, long: 30 });
const SENDERS = sized({ short: 3, long: 12 });
const ASSETS = 25;
const CLASSIFICATIONS = ['PUBLIC', 'INTERNAL', 'CONFIDENTIAL'];

describe('Killing instances while Redis loses its data', () => {
  let setting: FaultSetting;
  beforeAll(async () => {
    setting = await FaultSetting.open({ redis: await startTemporaryRedis() });
    await setting.startInstances({}, {}, {});
  });
  afterAll(() => setting.close());

  it(
    'applies every update once, loses none, replays one response per key, and hides no change from the feed',
    async () => {
      const arrange = await setting.enterWorkspace();
      const assets = await setting.assets(arrange, ASSETS);
      const owner = (await arrange.anEmployee(setting.workspace)).id;
      for (const key of ['env', 'team']) await arrange.aTagKey(setting.workspace, key);
      const client = setting.client();
      const chaos = new Chaos(setting);
      const follower = new FeedFollower(setting.token, setting.origins);
      follower.begin();

      const operation = (n: number): Operation => {
        const asset = assets[n % ASSETS] as string;
        const body = {
          description: `change ${n}`,
          ...(n % 3 === 0 ? { classification: CLASSIFICATIONS[n % CLASSIFICATIONS.length] } : {}),
          ...(n % 5 === 0 ? { ownerId: owner } : {}),
          ...(n % 7 === 0 ? { tags: [{ key: n % 2 === 0 ? 'env' : 'team' }] } : {}),
        };
        return { key: randomUUID(), assets: [asset], path: `/v1/inventory/assets/${asset}`, body };
      };
      let sent = 0;
      const sender = async (): Promise<void> => {
        while (sent < KEYS || chaos.kills < KILLS) {
          const [n, next] = [sent, operation(sent)];
          sent += 1;
          await Promise.all([client.settle(next, n), client.settle(next, n + 1)]);
        }
      };
      await chaos.during(Promise.all(Array.from({ length: SENDERS }, sender)));

      await follower.end();

      const histories = setting.log.read();
      tell('killed instances', {
        keys: sent,
        kills: chaos.kills,
        flushes: chaos.flushes,
        ...tally(histories.values()),
      });
      expect(histories.size).toBe(sent);
      expect(await setting.faults()).toEqual([]);
      expect(await follower.faults(setting.admin, setting.workspace)).toEqual([]);
    },
    sized({ short: 3, long: 30 }) * MINUTE,
  );
});

/** Kills one instance every second and restarts it. Flushes Redis every 300 ms. */
class Chaos {
  kills = 0;
  flushes = 0;
  private over = false;

  constructor(private readonly setting: FaultSetting) {}

  async during(work: Promise<unknown>): Promise<void> {
    const ended = work.finally(() => (this.over = true));
    await Promise.all([ended, this.kill(), this.flush()]);
  }

  private async kill(): Promise<void> {
    const starting: Promise<void>[] = [];
    for (let turn = 0; !this.over; turn += 1) {
      await delay(1_000);
      const { instances } = this.setting;
      const instance = instances[turn % instances.length];
      // On a machine that restarts them too slowly, one instance must remain.
      if (!instance?.serving || instances.filter(({ serving }) => serving).length < 2) continue;
      await instance.kill();
      this.kills += 1;
      starting.push(instance.startAgain());
    }
    await Promise.all(starting);
  }

  private async flush(): Promise<void> {
    while (!this.over) {
      await delay(300);
      await this.setting.redis.flush();
      this.flushes += 1;
    }
  }
}
