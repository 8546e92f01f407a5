import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Arrangement } from '../support/arrangement';
import { withRedis } from '../support/redis-connection';
import { startTemporaryRedis } from '../support/temporary-redis';
import { ClientApplication, NO_LIMITS } from './client-application';
import { FaultSetting } from './fault-setting';
import { busyConnections } from './held-lock';
import { MixedLoad } from './mixed-load';
import { IS_LONG, MINUTE, sized, tell } from './sizes';
import { type Holding, WatchedInstance } from './watched-instance';

/** One instance, so that it gets as many requests as the machine can send. */
const INSTANCES = 1;
const CLIENTS = sized({ short: 1, long: 3 });
const POOL = 5;
/** Samples at equal intervals, after caches and compiled code have reached their size. */
const WARM_MS = sized({ short: 2_000, long: 180_000 });
const SAMPLES = sized({ short: 2, long: 14 });
const BETWEEN_MS = sized({ short: 2_000, long: 30_000 });
/** Less than any leak for each request could be: an object of two fields and its place in a list. */
const LEAST_LEAK_BYTES = 32;
/** Size of deliberate, bounded caches: some ten thousand keys and tokens at most. */
const REMEMBERED_BYTES = 4e6;
/** Memory kept by the allocator, and compiled code, vary by some megabytes. */
const RSS_PLAY = 1.25;
/** Limit of the event loop's delay, as in the alert of docker/prometheus. */
const LATE_SECONDS = 0.5;

describe('In a long run of everything clients do', () => {
  let setting: FaultSetting;
  let arrange: Arrangement;
  const instances: WatchedInstance[] = [];
  beforeAll(async () => {
    setting = await FaultSetting.open({ redis: await startTemporaryRedis() });
    while (instances.length < INSTANCES) {
      instances.push(await WatchedInstance.start(setting, { DATABASE_POOL_SIZE: String(POOL) }));
    }
    arrange = await setting.enterWorkspace();
  }, 2 * MINUTE);
  afterAll(async () => {
    await MixedLoad.abandonAll();
    await setting.close();
  }, MINUTE);

  it(
    'a process ends with the memory, connections, listeners and Redis keys it started with',
    async () => {
      const load = await MixedLoad.begin(setting, arrange, { readers: CLIENTS, writers: CLIENTS });
      const strangers = new Strangers(setting, await ClientApplication.arrange(setting, arrange, NO_LIMITS));
      const redisConnections = await countRedisConnections();
      await load.during('warm-up', WARM_MS);
      const samples: (Holding & { readonly requests: number; readonly lateSeconds: number })[][] = instances.map(
        () => [],
      );
      for (let sample = 0; sample < SAMPLES; sample += 1) {
        await load.during('soak', BETWEEN_MS);
        for (const [place, instance] of instances.entries()) {
          const lateSeconds = await instance.metric('nodejs_eventloop_lag_p99_seconds');
          const requests = (load.heard.length + strangers.requests) / INSTANCES;
          samples[place]?.push({ ...(await instance.holding()), requests, lateSeconds });
        }
      }
      await load.end();
      await strangers.end();

      for (const of of samples) {
        const [early, late] = [of.slice(0, Math.ceil(of.length / 3)), of.slice(-Math.ceil(of.length / 3))];
        const middle = (some: typeof of, member: keyof (typeof of)[0]): number =>
          median(some.map((one) => one[member]));
        const requests = middle(late, 'requests') - middle(early, 'requests');
        const kept = middle(late, 'used') - middle(early, 'used');
        tell('one process', {
          requests: Math.round(of.at(-1)?.requests ?? 0),
          'bytes kept a request': (kept / requests).toFixed(1),
          'MB used': of.map(({ used }) => (used / 1e6).toFixed(1)).join(' '),
          'MB resident': of.map(({ rss }) => (rss / 1e6).toFixed(0)).join(' '),
          'ms late at p99': of.map(({ lateSeconds }) => (lateSeconds * 1e3).toFixed(0)).join(' '),
          listeners: of.map(({ listeners }) => listeners).join(' '),
        });
        if (IS_LONG) {
          expect(kept).toBeLessThan(REMEMBERED_BYTES + LEAST_LEAK_BYTES * requests);
          expect(middle(late, 'rss')).toBeLessThan(middle(early, 'rss') * RSS_PLAY);
          expect(middle(of, 'lateSeconds')).toBeLessThan(LATE_SECONDS);
        }
        expect([...new Set(of.map(({ listeners }) => listeners))]).toHaveLength(1);
        expect(of.at(-1)?.warnings).toBe(of[0]?.warnings);
      }
      for (const instance of instances) {
        await becomes(0, () => instance.metric('http_requests_in_flight'));
        await becomes(0, () => instance.metric('compliance_database_pool_waiting{pool="primary"}'));
        await becomes(0, () => instance.metric('compliance_database_pool_connections{pool="primary",state="in_use"}'));
      }
      await becomes(0, () => busyConnections(setting.admin));
      await becomes(redisConnections, countRedisConnections);
      expect(await immortalKeys()).toEqual([]);
      expect(load.faults).toEqual([]);
      expect(strangers.faults).toEqual([]);
      expect(await setting.faults()).toEqual([]);
    },
    sized({ short: 1, long: 15 }) * MINUTE,
  );

  async function countRedisConnections(): Promise<number> {
    const list = await withRedis(setting.redis.url, (redis) => redis.client('LIST'));
    return String(list).trim().split('\n').length;
  }

  async function immortalKeys(): Promise<string[]> {
    return withRedis(setting.redis.url, async (redis) => {
      const keys = await redis.keys('*');
      const lives = await Promise.all(keys.map((key) => redis.pttl(key)));
      tell('Redis', { keys: keys.length });
      return keys.filter((_, place) => lives[place] === -1);
    });
  }
});

async function becomes(wanted: number, read: () => Promise<number>): Promise<void> {
  for (const deadline = Date.now() + 10_000; (await read()) !== wanted; await delay(50)) {
    if (Date.now() > deadline) throw new Error(`${await read()} in place of ${wanted}`);
  }
}

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

/** Refused requests: forged secrets and tokens, unknown paths, bad input, broken connections. */
class Strangers {
  requests = 0;
  readonly faults: string[] = [];
  private over = false;
  private readonly work: Promise<void>;

  constructor(
    private readonly setting: FaultSetting,
    private readonly victim: ClientApplication,
  ) {
    this.work = this.go();
  }

  async end(): Promise<void> {
    this.over = true;
    await this.work;
  }

  private async go(): Promise<void> {
    for (let n = 0; !this.over; n += 1) {
      const origin = this.setting.origins[n % this.setting.origins.length] as string;
      const responses = [
        await this.victim.forge(origin),
        await this.victim.read(origin, `forged.${n}.token`),
        await this.victim.readOne(origin, this.setting.token, `not-an-id-${n}`),
      ];
      const path = await fetch(`${origin}/unknown/${n}`);
      await path.text();
      await Promise.all(
        ['GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3), 'CONNECT a:1 HTTP/1.1\r\n\r\n', 'POST / HT'].map((bytes) =>
          breakOff(Number(new URL(origin).port), bytes),
        ),
      );
      this.requests += 8;
      const statuses = [...responses.map(({ status }) => status), path.status];
      if (statuses.some((status) => status === null || status >= 500)) this.faults.push(statuses.join(' '));
      await delay(25);
    }
  }
}

function breakOff(port: number, bytes: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, () => socket.resetAndDestroy()));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
  });
}
