import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { RedisClient, type RedisCommands, RedisScript } from '#libs/platform/redis';
import { type ClusterNode, RedisCluster, isOn, slotOf } from '../support/redis-cluster';
import { RedisNode } from '../support/redis-node';
import { RedisPath } from '../support/redis-path';
import { RedisSentinels } from '../support/redis-sentinels';
import { until } from '../support/until';

/** Contains every special character of URLs. */
const PASSWORD = 'p@ss/w:rd%1?#,';
/** A command takes 50 ms at most; the rest is for a busy machine. */
const PROMPT_MS = 2_000;

const COUNT = new RedisScript(`return redis.call('INCR', KEYS[1])`);
const count = (key: string) => (redis: RedisCommands) => COUNT.run(redis, [key], []);
/** The count, once a reply comes in time: on a busy machine a single one may take longer than 50 ms. */
async function counted(redis: RedisClient, key: string): Promise<unknown> {
  let result: unknown;
  await until(async () => (result = await redis.attempt(count(key))) !== undefined);
  return result;
}

async function timed<Result>(work: () => Promise<Result>): Promise<{ result: Result; took: number }> {
  const since = performance.now();
  const result = await work();
  return { result, took: performance.now() - since };
}

describe('Redis', () => {
  let node: RedisNode;
  let sentinels: RedisSentinels;
  let cluster: RedisCluster;
  const said: string[] = [];
  const opened: RedisClient[] = [];
  const open = async (url: string): Promise<RedisClient> => {
    const redis = new RedisClient(url);
    opened.push(redis);
    await redis.onModuleInit();
    return redis;
  };
  const isUsedAgain = (redis: RedisClient): Promise<void> => until(() => redis.state === 'ok');

  beforeAll(async () => {
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((event: unknown) => {
      said.push(Object.values(event as object).join(': '));
    });
    [node, sentinels, cluster] = await Promise.all([
      RedisNode.start(PASSWORD),
      RedisSentinels.start({ redis: PASSWORD, sentinel: 'an/other?' }),
      RedisCluster.start(PASSWORD),
    ]);
  });
  beforeEach(() => {
    said.length = 0;
  });
  afterEach(() => {
    for (const redis of opened.splice(0)) redis.onApplicationShutdown();
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await Promise.all([node?.stop(), sentinels?.stop(), cluster?.stop()]);
  });

  describe.each([
    ['as one node', () => node],
    ['with sentinels', () => sentinels],
    ['as a cluster', () => cluster],
  ])('%s', (_name, servers) => {
    const url = (): string => servers().url;

    it('sends concurrent commands in one system call', async () => {
      const redis = await open(url());
      const key = `{${randomUUID()}}`;
      const reads = async (): Promise<number> => {
        const stats = await redis.attempt((client) => client.eval(`return redis.call('INFO', 'stats')`, 1, key));
        return Number(/^total_reads_processed:(\d+)/m.exec(String(stats))?.[1]);
      };
      const before = await reads();
      await Promise.all(Array.from({ length: 200 }, () => redis.attempt(count(key))));
      expect((await reads()) - before).toBeLessThan(20);
    });

    it('reports a break when a connection was lost unnoticed by commands', async () => {
      const redis = await open(url());
      expect(await redis.attempt(count(randomUUID()))).toBe(1);
      expect(redis.unbrokenMs).toBe(Infinity);
      const lostAfter = performance.now();
      await servers().dropConnections();
      await until(() => redis.unbrokenMs !== Infinity);
      await isUsedAgain(redis);
      expect(redis.unbrokenMs).toBeLessThan(performance.now() - lostAfter);
      await until(() => redis.unbrokenMs > 200);
    });

    it('runs a script on a node that does not know it', async () => {
      const redis = await open(url());
      const own = new RedisScript(`return redis.call('INCR', KEYS[1]) -- ${randomUUID()}`);
      const keys = Array.from({ length: 20 }, (_, index) => `{${index}}:${randomUUID()}`);
      for (const times of [1, 2]) {
        const counts = await Promise.all(keys.map((key) => redis.attempt((client) => own.run(client, [key], []))));
        expect(counts).toEqual(keys.map(() => times));
      }
      expect([redis.state, said]).toEqual(['ok', []]);
    });
  });

  it('with sentinels continues with the replica when the primary is killed', async () => {
    const redis = await open(sentinels.url);
    expect(await redis.attempt(count('c'))).toBe(1);
    await sentinels.killPrimary();
    const { result, took } = await timed(() => redis.attempt(count('c')));
    expect([result, took < PROMPT_MS]).toEqual([undefined, true]);
    await isUsedAgain(redis);
    expect(said).toEqual([expect.stringMatching(/^Redis is away: /), 'Redis is back']);
    expect(await counted(redis, 'c')).toBeGreaterThan(0);
  });

  describe('as one node', () => {
    it('counts as away while it is out of memory, however well it replies', async () => {
      const redis = await open(node.url);
      await node.configure('maxmemory', '1');
      expect(await redis.attempt(count('a'))).toBeUndefined();
      await delay(1_050);
      expect([await redis.ping(), redis.state]).toEqual([false, 'away']);
      await node.configure('maxmemory', '0');
      await isUsedAgain(redis);
      expect(said).toEqual([expect.stringMatching(/^Redis is away: OOM /), 'Redis is back']);
    });

    it('reports a break after a short silence on the same connection', async () => {
      const redis = await open(node.url);
      node.freeze();
      expect(await redis.attempt(count('d'))).toBeUndefined();
      expect(redis.unbrokenMs).toBe(0);
      node.thaw();
      await isUsedAgain(redis);
      expect(redis.unbrokenMs).toBeLessThan(PROMPT_MS);
    });

    it('is replaced by the node at its address once it became a replica', async () => {
      const [path, next] = [await RedisPath.to(node.port), await RedisNode.start(PASSWORD)];
      try {
        const redis = await open(node.url.replace(`:${node.port}/`, `:${path.port}/`));
        expect(await redis.attempt(count('b'))).toBe(1);
        path.leadTo(next.port);
        await node.follow('127.0.0.1', next.port);
        expect(await redis.attempt(count('b'))).toBeUndefined();
        await isUsedAgain(redis);
        expect(await counted(redis, 'b')).toBeGreaterThan(0);
        expect(said[0]).toContain('READONLY');
      } finally {
        await Promise.all([path.close(), next.stop()]);
      }
    });
  });

  describe('as a cluster', () => {
    /** Keys of this test only, each with its own slot. */
    const keysOn = (...nodes: readonly ClusterNode[]): string[] => {
      const keys = Array.from({ length: 60 }, () => `{${randomUUID()}}:key`);
      return keys.filter((key) => nodes.some((one) => isOn(key, one)));
    };
    const three = () => cluster.nodes as [ClusterNode, ClusterNode, ClusterNode];

    it('keeps keys on each of its nodes', async () => {
      const redis = await open(cluster.url);
      for (const one of cluster.nodes) {
        const [key = ''] = keysOn(one);
        expect(await redis.attempt(count(key))).toBe(1);
        expect(await cluster.on(one, (connection) => connection.get(key))).toBe('1');
      }
    });

    it('is found through its other nodes when a named one is missing', async () => {
      const redis = await open(cluster.url.replace('@', '@127.0.0.1:1,nowhere.invalid:6379,'));
      await isUsedAgain(redis);
      expect(await redis.attempt(count(keysOn(three()[0])[0] ?? ''))).toBe(1);
    });

    it.each([
      ['killed', (one: ClusterNode) => cluster.kill(one), (one: ClusterNode) => cluster.restart(one)],
      ['frozen', async (one: ClusterNode) => cluster.freeze(one), async (one: ClusterNode) => cluster.thaw(one)],
    ])(
      'counts as away while a node is %s, at the cost of one wait, and is used once that is back',
      async (_, lose, find) => {
        const redis = await open(cluster.url);
        const [lost, ...others] = three();
        let waits = 0;
        await lose(lost);
        try {
          for (const key of keysOn(lost)) {
            const nextTurn = new Promise((resolve) => setImmediate(() => resolve('waited')));
            const asked = redis.attempt(count(key));
            if ((await Promise.race([asked, nextTurn])) === 'waited') waits += 1;
            expect(await asked).toBeUndefined();
          }
          // Three probes long. They use the key that failed, not one of a healthy node.
          await delay(3_200);
          expect(redis.state).toBe('away');
          expect(await redis.attempt(count(keysOn(...others)[0] ?? ''))).toBeUndefined();
        } finally {
          await find(lost);
        }
        expect(waits).toBeLessThanOrEqual(1);
        await isUsedAgain(redis);
        await cluster.whole();
        for (const key of keysOn(...three())) expect(await counted(redis, key)).toBeGreaterThan(0);
      },
    );

    it('serves a moving slot and a moved one, also when the new node dies', async () => {
      const redis = await open(cluster.url);
      const [from, to, other] = three();
      const [key = ''] = keysOn(from);
      const slot = slotOf(key);
      const [fromName, toName] = [await cluster.idOf(from), await cluster.idOf(to)];
      await cluster.on(to, (connection) => connection.cluster('SETSLOT', slot, 'IMPORTING', fromName));
      await cluster.on(from, (connection) => connection.cluster('SETSLOT', slot, 'MIGRATING', toName));
      expect(await redis.attempt(count(key))).toBe(1);

      const uncaught: unknown[] = [];
      const listener = (error: unknown): void => void uncaught.push(error);
      process.on('unhandledRejection', listener);
      cluster.freeze(to);
      const { result, took } = await timed(() => redis.attempt(count(key)));
      expect([result, took < PROMPT_MS]).toEqual([undefined, true]);
      await delay(1_200);
      process.off('unhandledRejection', listener);
      expect(uncaught).toEqual([]);
      cluster.thaw(to);
      await isUsedAgain(redis);

      for (const one of [to, from, other]) {
        await cluster.on(one, (connection) => connection.cluster('SETSLOT', slot, 'NODE', toName));
      }
      expect(await counted(redis, key)).toBeGreaterThan(0);
      expect(Number(await cluster.on(to, (connection) => connection.get(key)))).toBeGreaterThan(0);
    });

    it('continues with the replica of a lost node', async () => {
      const [, , lost] = three();
      await cluster.addReplicaOf(lost);
      const redis = await open(cluster.url);
      const [key = ''] = keysOn(lost);
      expect(await redis.attempt(count(key))).toBe(1);
      await cluster.kill(lost);
      expect(await redis.attempt(count(key))).toBeUndefined();
      await isUsedAgain(redis);
      expect(await counted(redis, key)).toBeGreaterThan(0);
    });
  });
});
