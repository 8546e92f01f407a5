import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { type RedisClient, RedisServer } from '#libs/platform';
import { type ClusterNode, RedisCluster, isOn, slotsOf } from '../support/redis-cluster';

/** A few probes, and what a busy machine may add. */
const BACK_MS = 10_000;

const keyOn = (node: ClusterNode): string => {
  for (let number = 0; ; number += 1) {
    if (isOn(`{${number}}`, node)) return `{${number}}`;
  }
};
const write = (key: string) => (redis: RedisClient) => redis.set(key, '', 'PX', 60_000, 'NX');
const read = (key: string) => (redis: RedisClient) => redis.get(key);

/** Where one of them is in trouble, nobody but the other can say where the slots are. */
describe('A cluster of two primaries', () => {
  let cluster: RedisCluster;
  let redis: RedisServer;
  let former: ClusterNode;
  let heir: ClusterNode;
  const said: string[] = [];
  const open = async (farMs = 0): Promise<void> => {
    said.length = 0;
    cluster = await RedisCluster.start('secret', { primaries: 2, farMs });
    [former, heir] = cluster.nodes as [ClusterNode, ClusterNode];
    redis = new RedisServer(cluster.url);
    await redis.onModuleInit();
    for (const node of [former, heir]) expect(await redis.attempt(write(keyOn(node)))).toBe('OK');
  };
  beforeEach(() => {
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((message: unknown) => void said.push(String(message)));
  });
  afterEach(async () => {
    redis?.onApplicationShutdown();
    await cluster?.stop();
    jest.restoreAllMocks();
  });

  /** As an operator does who gives up on the other one. */
  const giveSlotsToHeir = (): Promise<void> =>
    cluster.on(heir, async (node) => {
      await node.cluster('DELSLOTS', ...slotsOf(former));
      await node.cluster('ADDSLOTS', ...slotsOf(former));
      await node.cluster('BUMPEPOCH');
    });
  const isAskedFor = async (milliseconds: number): Promise<void> => {
    for (const end = Date.now() + milliseconds; Date.now() < end; await delay(50)) {
      await Promise.all([former, heir].map((each) => redis.attempt(write(keyOn(each)))));
    }
  };
  const timesBack = (): number => said.filter((line) => line.includes('answers again')).length;
  const isUsedFor = async (...nodes: readonly ClusterNode[]): Promise<void> => {
    for (const deadline = Date.now() + BACK_MS; redis.state === 'away'; await delay(20)) {
      if (Date.now() > deadline) throw new Error('It is not used again');
    }
    for (const node of nodes) expect(await redis.attempt(read(keyOn(node)))).toBeDefined();
  };

  it('is used again where one is lost for good and the other one has its slots, and nobody says so unasked', async () => {
    await open();
    await cluster.kill(former);
    expect(await redis.attempt(read(keyOn(former)))).toBeUndefined();
    await giveSlotsToHeir();
    await isUsedFor(former, heir);
  });

  it('is used again where one is cut off from the other, which has its slots, and goes on answering that all is lost', async () => {
    await open();
    const id = await cluster.idOf(heir);
    await cluster.on(former, async (node) => {
      await node.config('SET', 'cluster-require-full-coverage', 'yes');
      await node.cluster('FORGET', id);
    });
    await giveSlotsToHeir();
    expect(await redis.attempt(write(keyOn(former)))).toBeUndefined();
    await isUsedFor(former, heir);
  });

  it('is away for as long as none of them has memory left', async () => {
    await open();
    const limit = (bytes: string) =>
      Promise.all([former, heir].map((each) => cluster.on(each, (node) => node.config('SET', 'maxmemory', bytes))));
    await limit('1');
    await isAskedFor(3_000);
    expect([redis.state, timesBack()]).toEqual(['away', 0]);
    await limit('0');
    await isUsedFor(former, heir);
  });

  it('is used again where one has forgotten all, and what it had, until somebody has its slots', async () => {
    await open();
    await cluster.on(former, async (node) => {
      await node.flushall();
      await node.cluster('RESET', 'HARD');
    });
    await isAskedFor(4_000);
    // That node is one of them no more.
    expect(timesBack()).toBeLessThanOrEqual(1);
    expect(redis.state).toBe('away');
    await giveSlotsToHeir();
    await isUsedFor(former, heir);
  });

  it('is used again so far away that a connection takes longer to make than anybody waits', async () => {
    await open(8);
    await cluster.kill(former);
    expect(await redis.attempt(read(keyOn(former)))).toBeUndefined();
    await cluster.restart(former);
    await isUsedFor(former, heir);
  });
});
