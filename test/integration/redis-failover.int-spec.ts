import { setTimeout as delay } from 'node:timers/promises';
import { clientKey } from '#libs/platform/throttling';
import { type ClusterNode, RedisCluster, isOn } from '../support/redis-cluster';
import { RedisNode } from '../support/redis-node';
import { type ArrangedClient, BURST, InstancesOnRedis } from '../support/instances-on-redis';
import { RedisSentinels } from '../support/redis-sentinels';
import { type TestApp, startApp } from '../support/start-app';
import { TcpProxy } from '../support/tcp-proxy';

const PASSWORD = 'p@ss/w:rd%1?#,';
/** One instance uses the whole bucket and leaves nothing for the other. */
const SHARED = [BURST, 0];
/** Each instance has its own half. */
const HALVES = [BURST / 2, BURST / 2];
const NOTHING = [0, 0];
const AWAY = /^Redis is away$/;
const BACK = /^Redis is back$/;

describe('Two instances of the API', () => {
  let api: TestApp;
  let node: RedisNode;
  let sentinels: RedisSentinels;
  let cluster: RedisCluster;
  /** The cluster node with a replica. */
  let doubled: ClusterNode;
  let instances: InstancesOnRedis;
  beforeAll(async () => {
    [api, node, sentinels, cluster] = await Promise.all([
      startApp(),
      RedisNode.start(PASSWORD),
      RedisSentinels.start({ redis: PASSWORD, sentinel: PASSWORD }),
      RedisCluster.start(PASSWORD),
    ]);
    doubled = cluster.nodes[2] as ClusterNode;
    await cluster.addReplicaOf(doubled);
  });
  afterAll(async () => {
    await Promise.all([api?.stop(), node?.stop(), sentinels?.stop(), cluster?.stop()]);
  });
  afterEach(() => instances.stop());

  const timesSaid = (pattern: RegExp): number => instances.said.filter((line) => pattern.test(line)).length;
  const bothSaid = async (pattern: RegExp, times = 2): Promise<void> => {
    for (const deadline = Date.now() + 60_000; timesSaid(pattern) < times;) {
      if (Date.now() > deadline) throw new Error(`Said only: ${instances.said.join(' ')}`);
      await delay(50);
    }
  };
  /** Each instance logs the start and the end of each outage once. A busy machine may add one by a late reply. */
  const saidOnceEach = async (outages: number): Promise<void> => {
    const away = timesSaid(AWAY);
    await bothSaid(BACK, away);
    expect(away).toBeGreaterThanOrEqual(2 * outages);
    expect(away).toBeLessThanOrEqual(2 * (outages + 1));
  };
  /** A failover may end at any moment: an instance that had half a bucket then has a whole one at most. */
  const holdsMeanwhile = async ({ token }: ArrangedClient): Promise<void> => {
    const passed = (await instances.passedBy(token)).reduce((sum, count) => sum + count);
    expect([passed >= BURST / 2, passed <= 2 * BURST]).toEqual([true, true]);
  };
  /** Both instances accept a new token and refuse the previous one. */
  const supersedes = async (client: ArrangedClient): Promise<void> => {
    const token = await client.issue();
    expect(await instances.accepted(client.token)).toEqual(['token_superseded', 'token_superseded']);
    expect(await instances.accepted(token)).toEqual([200, 200]);
  };

  it('keep limits, tokens and keys while Redis is stopped, frozen and flushed, and use it when it is back', async () => {
    instances = await InstancesOnRedis.start(api, node.url);
    const clients = [await instances.aClient(), await instances.aClient()];
    const drained = await instances.aClient();
    const [fresh, other] = [await instances.aClient(), await instances.aClient()];
    expect(await instances.passedBy(drained.token)).toEqual(SHARED);
    const stop = await instances.load(clients);

    await node.kill();
    await bothSaid(AWAY);
    expect(await instances.passedBy(fresh.token)).toEqual(HALVES);
    // One more burst in total, shared by both.
    expect(await instances.passedBy(drained.token)).toEqual(HALVES);
    expect(await instances.passedBy(drained.token)).toEqual(NOTHING);
    await supersedes(drained);
    await node.restart();
    await bothSaid(BACK);
    expect(await instances.passedBy((await instances.aClient()).token)).toEqual(SHARED);

    const away = timesSaid(AWAY);
    node.freeze();
    await bothSaid(AWAY, away + 2);
    expect(await instances.passedBy(other.token)).toEqual(HALVES);
    node.thaw();
    await bothSaid(BACK, timesSaid(AWAY));

    const flushed = await instances.aClient();
    expect(await instances.passedBy(flushed.token)).toEqual(SHARED);
    await node.flush();
    expect(await instances.passedBy(flushed.token)).toEqual(SHARED);
    await supersedes(flushed);

    await saidOnceEach(2);
    expect(await stop()).toEqual([]);
  });

  it('confirm a change only when the one without Redis no longer trusts its copy', async () => {
    const proxy = await TcpProxy.to('127.0.0.1', node.port);
    instances = await InstancesOnRedis.start(api, node.url, node.url.replace(`:${node.port}/`, `:${proxy.port}/`));
    const client = await instances.aClient();
    expect(await instances.accepted(client.token)).toEqual([200, 200]);
    await proxy.set('refuse');
    await supersedes(client);
    await proxy.close();
  });

  it('with sentinels continue with the replica when the primary is frozen, and stay there when it thaws', async () => {
    instances = await InstancesOnRedis.start(api, sentinels.url);
    const clients = [await instances.aClient(), await instances.aClient()];
    const [drained, other] = [await instances.aClient(), await instances.aClient()];
    expect(await instances.passedBy(drained.token)).toEqual(SHARED);
    const stop = await instances.load(clients);

    sentinels.freezePrimary();
    await bothSaid(AWAY);
    await holdsMeanwhile(other);
    await bothSaid(BACK);
    // The replica had received the charges.
    expect(await instances.passedBy(drained.token)).toEqual(NOTHING);
    expect(await instances.passedBy((await instances.aClient()).token)).toEqual(SHARED);

    // It still considers itself the primary for some seconds.
    sentinels.thawPrimary();
    expect(await instances.passedBy(drained.token)).toEqual(NOTHING);
    await supersedes(drained);
    await saidOnceEach(1);
    expect(await stop()).toEqual([]);
  });

  it('with a cluster share limits on every node, and continue with the replica of a frozen node', async () => {
    const aClientOn = (one: ClusterNode) => instances.aClient((clientId) => isOn(clientKey(clientId), one));
    instances = await InstancesOnRedis.start(api, cluster.url);
    const clients: ArrangedClient[] = [];
    for (const one of cluster.nodes) clients.push(await aClientOn(one));
    const elsewhere = await aClientOn(cluster.nodes[0] as ClusterNode);
    const [drained, other] = [await aClientOn(doubled), await aClientOn(doubled)];
    for (const one of clients) expect(await instances.passedBy(one.token)).toEqual(SHARED);
    expect(await instances.passedBy(drained.token)).toEqual(SHARED);
    const stop = await instances.load(clients);

    cluster.freeze(doubled);
    await bothSaid(AWAY);
    await holdsMeanwhile(elsewhere);
    await holdsMeanwhile(other);
    await bothSaid(BACK);
    expect(await instances.passedBy(drained.token)).toEqual(NOTHING);
    cluster.thaw(doubled);
    for (const one of cluster.nodes) expect(await instances.passedBy((await aClientOn(one)).token)).toEqual(SHARED);
    await supersedes(drained);

    await saidOnceEach(1);
    expect(await stop()).toEqual([]);
    // No script failed because of its content.
    expect(instances.said.filter((line) => /^Redis command failed/.test(line))).toEqual([]);
  });
});
