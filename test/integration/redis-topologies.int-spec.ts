import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { applicationId, workspaceId } from '#libs/kernel';
import { type RedisClient, RedisScript, RedisServer } from '#libs/platform';
import { Redis } from 'ioredis';
import { KeyLease } from '../../libs/platform/src/idempotency/key-lease';
import { type ClusterNode, RedisCluster, isOn, slotOf } from '../support/redis-cluster';
import { RedisNode } from '../support/redis-node';
import { RedisPath } from '../support/redis-path';
import { RedisSentinels } from '../support/redis-sentinels';

/** Every character that means something in a URL. */
const PASSWORD = 'p@ss/w:rd%1?#,';
/** A command waits 50 ms; the rest is for a machine that is busy with other things. */
const PROMPT_MS = 2_000;

const COUNT = new RedisScript(`return redis.call('INCR', KEYS[1])`);
const count = (key: string) => (redis: RedisClient) => COUNT.run(redis, [key], []);
const read = (key: string) => (redis: RedisClient) => redis.get(key);

const aRequest = () => ({
  workspaceId: workspaceId(randomUUID()),
  applicationId: applicationId(randomUUID()),
  keyHash: randomUUID(),
  fingerprint: '',
});

async function timed<Result>(work: () => Promise<Result>): Promise<{ result: Result; took: number }> {
  const since = performance.now();
  const result = await work();
  return { result, took: performance.now() - since };
}

/** Waits until every node takes writes again; throws after a minute. */
async function untilTaken(redis: RedisServer): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await redis.ping());) {
    if (Date.now() > deadline) throw new Error('Redis is not used again');
    await delay(50);
  }
}

async function until(is: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 10_000; !is(); await delay(5)) {
    if (Date.now() > deadline) throw new Error('It never came so far');
  }
}

describe('Redis at scale', () => {
  let node: RedisNode;
  let sentinels: RedisSentinels;
  let cluster: RedisCluster;
  const said: string[] = [];
  const opened: RedisServer[] = [];
  const open = async (url: string): Promise<RedisServer> => {
    const redis = new RedisServer(url);
    opened.push(redis);
    await redis.onModuleInit();
    return redis;
  };

  beforeAll(async () => {
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((message: unknown) => void said.push(String(message)));
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
    ['one node', () => node],
    ['a sentinel and what it watches', () => sentinels],
    ['a cluster', () => cluster],
  ])('%s', (_name, servers) => {
    const url = (): string => servers().url;

    it('gives the lease of a key to one process at a time', async () => {
      const leases = [new KeyLease(await open(url())), new KeyLease(await open(url()))];
      for (let round = 0; round < 10; round += 1) {
        const request = aRequest();
        const taken = await Promise.all(leases.map((lease) => lease.take(request)));
        const [release, ...others] = taken.filter((one) => one !== null);
        expect(others).toEqual([]);
        release?.();
        const again = await timed(async () => {
          while ((await leases[round % 2]?.take(request)) === null) await delay(5);
        });
        expect(again.took).toBeLessThan(2_500);
      }
    });

    it('costs a system call for all that is asked of it at a time, not one for each', async () => {
      const redis = await open(url());
      const key = `{${randomUUID()}}`;
      const reads = async (): Promise<number> => {
        const stats = await redis.attempt((client) => client.eval(`return redis.call('INFO', 'stats')`, 1, key));
        return Number(/^total_reads_processed:(\d+)/m.exec(String(stats))?.[1]);
      };
      const before = await reads();
      await Promise.all(Array.from({ length: 200 }, () => redis.attempt(read(key))));
      expect((await reads()) - before).toBeLessThan(20);
    });

    it('has answered without a break since its return, where the connection was lost and no command met that', async () => {
      const redis = await open(url());
      const key = randomUUID();
      expect(await redis.attempt(count(key))).toBe(1);
      expect(redis.unbrokenMs(key)).toBe(Infinity);
      const lostAfter = performance.now();
      await servers().dropConnections();
      await until(() => redis.unbrokenMs(key) !== Infinity);
      await untilTaken(redis);
      expect(redis.unbrokenMs(key)).toBeLessThan(performance.now() - lostAfter);
      await until(() => redis.unbrokenMs(key) > 200);
    });

    it('runs a script also on a node that does not know it', async () => {
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

  it('a sentinel makes the replica the primary when that is killed, and the replica is used, without a restart', async () => {
    const redis = await open(sentinels.url);
    expect(await redis.attempt(count('c'))).toBe(1);
    await sentinels.killPrimary();
    const { result, took } = await timed(() => redis.attempt(count('c')));
    expect([result, took < PROMPT_MS]).toEqual([undefined, true]);
    await untilTaken(redis);
    expect(await redis.attempt(count('c'))).toBeGreaterThan(0);
    expect(await new KeyLease(redis).take(aRequest())).not.toBeNull();
    expect(said).toEqual([expect.stringMatching(/^Redis is away, and is done without: /), 'Redis answers again.']);
  });

  describe('one node', () => {
    it('that has no memory left is away, however well it answers, until it has some', async () => {
      const redis = await open(node.url);
      await node.configure('maxmemory', '1');
      expect(await redis.attempt(count('a'))).toBeUndefined();
      await delay(1_050);
      expect([await redis.ping(), redis.state]).toEqual([false, 'away']);
      await node.configure('maxmemory', '0');
      await untilTaken(redis);
      expect(said).toEqual([
        expect.stringMatching(/^Redis is away, and is done without: OOM /),
        'Redis answers again.',
      ]);
    });

    it('that was silent for a moment has answered without a break since then, on the same connection', async () => {
      const redis = await open(node.url);
      node.freeze();
      expect(await redis.attempt(read('d'))).toBeUndefined();
      expect(redis.unbrokenMs('d')).toBe(0);
      node.thaw();
      await untilTaken(redis);
      expect(redis.unbrokenMs('d')).toBeLessThan(PROMPT_MS);
    });

    it('that became a replica is left for the one that its address leads to by now', async () => {
      const [path, next] = [await RedisPath.to(node.port), await RedisNode.start(PASSWORD)];
      try {
        const redis = await open(node.url.replace(`:${node.port}/`, `:${path.port}/`));
        expect(await redis.attempt(count('b'))).toBe(1);
        path.leadTo(next.port);
        await node.follow('127.0.0.1', next.port);
        expect(await redis.attempt(count('b'))).toBeUndefined();
        await untilTaken(redis);
        expect(await redis.attempt(count('b'))).toBe(1);
        expect(said[0]).toContain('READONLY');
      } finally {
        await Promise.all([path.close(), next.stop()]);
      }
    });
  });

  describe('a cluster', () => {
    /** Keys of this test alone, every one with a slot of its own. */
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

    it('is found by the nodes that are there when one of those named is not', async () => {
      const redis = await open(cluster.url.replace('@', '@127.0.0.1:1,nowhere.invalid:6379,'));
      await untilTaken(redis);
      expect(await redis.attempt(count(keysOn(three()[0])[0] ?? ''))).toBe(1);
    });

    it('goes on with the keys of the other nodes when one is killed, and with all of them once it is back', async () => {
      const redis = await open(cluster.url);
      const [killed, ...others] = three();
      await cluster.kill(killed);
      for (const key of keysOn(killed)) {
        const { result, took } = await timed(() => redis.attempt(count(key)));
        expect(result).toBeUndefined();
        expect(took).toBeLessThan(PROMPT_MS);
      }
      for (const key of keysOn(...others)) expect(await redis.attempt(count(key))).toBe(1);
      expect(redis.state).toBe('away');
      await cluster.restart(killed);
      await untilTaken(redis);
      for (const key of keysOn(...three())) expect(await redis.attempt(count(key))).toBe(1);
      // The connection that was lost says less than the one that is tried next.
      expect(said[0]).toMatch(/^A node of Redis is away, and is done without: (ECONN|not connected)/);
      expect(said.at(-1)).toBe('A node of Redis answers again.');
      // One line a transition; on a busy machine another node may be slow meanwhile.
      expect(said.filter((line) => line.includes('away') && !line.includes('no answer in time'))).toHaveLength(1);
      await cluster.whole();
    });

    it('waits for a node that is frozen once, and not for the others', async () => {
      const redis = await open(cluster.url);
      const [, frozen, other] = three();
      cluster.freeze(frozen);
      const waiting = keysOn(frozen).map((key) => timed(() => redis.attempt(count(key))));
      for (const key of keysOn(other)) expect(await redis.attempt(count(key))).toBe(1);
      for (const { result, took } of await Promise.all(waiting)) {
        expect(result).toBeUndefined();
        expect(took).toBeLessThan(PROMPT_MS);
      }
      const sent = jest.spyOn(Redis.prototype, 'sendCommand');
      await Promise.all(keysOn(frozen).map((key) => redis.attempt(count(key))));
      expect(sent.mock.calls.filter(([{ name }]) => name.startsWith('eval'))).toEqual([]);
      sent.mockRestore();
      // The connection is given up meanwhile: nobody knows that it leads to a node that will answer again.
      await delay(1_100);
      expect(await redis.ping()).toBe(false);
      cluster.thaw(frozen);
      await untilTaken(redis);
      await cluster.whole();
      expect(said).toEqual([
        'A node of Redis is away, and is done without: no answer in time',
        'A node of Redis answers again.',
      ]);
    });

    it('answers for a slot that moves and for one that has moved; who it moves to may die of it', async () => {
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
      await untilTaken(redis);

      for (const one of [to, from, other]) {
        await cluster.on(one, (connection) => connection.cluster('SETSLOT', slot, 'NODE', toName));
      }
      expect(Number(await redis.attempt(read(key)))).toBeGreaterThan(0);
      expect(Number(await cluster.on(to, (connection) => connection.get(key)))).toBeGreaterThan(0);
    });

    it('is used for a slot that nobody had from the start and somebody has, and is away for the others at no time', async () => {
      const [first] = three();
      const [key = '', other = ''] = keysOn(first);
      const onAll = (change: (connection: Redis) => Promise<unknown>) =>
        Promise.all(three().map((one) => cluster.on(one, change)));
      await onAll((connection) => connection.cluster('DELSLOTS', slotOf(key)));
      const redis = await open(cluster.url);
      expect(await redis.attempt(count(key))).toBeUndefined();
      // Two probes long.
      await delay(2_300);
      expect(said.filter((line) => line.includes('answers again'))).toEqual([]);
      await cluster.on(first, (connection) => connection.cluster('ADDSLOTS', slotOf(key)));
      let times = 0;
      for (const deadline = Date.now() + 10_000; Date.now() < deadline; await delay(20)) {
        expect(await redis.attempt(count(other))).toBe((times += 1));
        if ((await redis.attempt(count(key))) !== undefined) break;
      }
      expect([await redis.attempt(count(key)), redis.state]).toEqual([2, 'ok']);
      await cluster.whole();
    });

    it('has a node that is away until it answers itself: another one has the slot by now, and answers too', async () => {
      const redis = await open(cluster.url);
      const [frozen, heir, other] = three();
      const [key = '', staying = ''] = keysOn(frozen);
      const [former, next] = [await cluster.idOf(frozen), await cluster.idOf(heir)];
      cluster.freeze(frozen);
      try {
        expect(await redis.attempt(count(key))).toBeUndefined();
        // Importing it makes the claim of the heir the newest, also for the node that sleeps.
        await cluster.on(heir, (each) => each.cluster('SETSLOT', slotOf(key), 'IMPORTING', former));
        for (const one of [heir, other]) {
          await cluster.on(one, (each) => each.cluster('SETSLOT', slotOf(key), 'NODE', next));
        }
        // Three probes long.
        await delay(3_500);
        expect([redis.state, said.filter((line) => line.includes('answers again'))]).toEqual(['away', []]);
      } finally {
        cluster.thaw(frozen);
      }
      // It says that the slot is another one's, and of its own none is asked for.
      await until(() => redis.state === 'ok');
      expect([await redis.attempt(count(key)), await redis.attempt(count(staying))]).toEqual([1, 1]);
      await cluster.whole();
    });

    it('has not answered without a break where a replica took over, however promptly', async () => {
      const [, , former] = three();
      const replica = await cluster.addReplicaOf(former);
      const redis = await open(cluster.url);
      const unaware = await Promise.all([1, 2, 3, 4, 5, 6].map(() => open(cluster.url)));
      const [key = ''] = keysOn(former);
      for (const each of unaware) expect(await each.attempt(count(randomUUID()))).toBe(1);
      const [other = ''] = keysOn(three()[0]);
      expect([redis.unbrokenMs(key), redis.unbrokenMs(other)]).toEqual([Infinity, Infinity]);
      await cluster.on(replica, (connection) => connection.cluster('FAILOVER', 'TAKEOVER'));
      for (const deadline = Date.now() + 10_000; redis.unbrokenMs(key) === Infinity && Date.now() < deadline;) {
        await redis.attempt(count(key));
      }
      expect(redis.unbrokenMs(key)).toBeLessThan(10_000);
      expect(redis.unbrokenMs(other)).toBe(Infinity);

      // Who has not heard of it asks the former node, is sent to one that does not answer, and has heard of it by then.
      await delay(1_000);
      await untilTaken(redis);
      said.length = 0;
      cluster.freeze(replica);
      await Promise.all(unaware.map((each) => each.attempt(count(key))));
      cluster.thaw(replica);
      for (const each of unaware) {
        await untilTaken(each);
        expect(await each.attempt(count(key))).toBeGreaterThan(0);
      }
      const [gone, back] = ['is away', 'answers again'].map((word) => said.filter((line) => line.includes(word)));
      expect(gone).toHaveLength(back?.length ?? 0);
    });
  });
});
