import { clientKey } from '#libs/platform/throttling';
import { type ClusterNode, RedisCluster, isOn } from '../support/redis-cluster';
import { RedisNode } from '../support/redis-node';
import { type ArrangedClient, BURST, InstancesOnRedis } from '../support/instances-on-redis';
import { RedisSentinels } from '../support/redis-sentinels';
import { type TestApp, startApp } from '../support/start-app';
import { TcpProxy } from '../support/tcp-proxy';
import { until } from '../support/until';

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
  const saidOnly = (): string => `Said only: ${instances.said.join(' ')}`;
  const bothBack = (): Promise<void> => until(() => timesSaid(BACK) === timesSaid(AWAY), saidOnly);
  /** Takes Redis away from both. One that a late reply took it from already says nothing. */
  const lost = async (lose: () => unknown): Promise<void> => {
    const before = timesSaid(AWAY);
    await lose();
    await until(() => timesSaid(AWAY) >= before + 2 || timesSaid(AWAY) === timesSaid(BACK) + 2, saidOnly);
  };
  /** Each instance logs the start and the end of each outage once. A busy machine may add one by a late reply. */
  const saidOnceEach = async (outages: number): Promise<void> => {
    await bothBack();
    const away = timesSaid(AWAY);
    expect(away).toBeGreaterThanOrEqual(2 * outages);
    expect(away).toBeLessThanOrEqual(2 * (outages + 1));
  };
  /**
   * Repeats what was disturbed by a late reply, as on a busy machine: an instance then uses its own bucket until Redis
   * replies again.
   */
  const undisturbed = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    for (;;) {
      await bothBack();
      const away = timesSaid(AWAY);
      const result = await work();
      if (timesSaid(AWAY) === away) return result;
    }
  };
  /** A new client whose whole bucket both instances have passed. */
  const aDrainedClient = async (suits?: (clientId: string) => boolean): Promise<ArrangedClient> => {
    const { client, passed } = await undisturbed(async () => {
      const one = await instances.aClient(suits);
      return { client: one, passed: await instances.passedBy(one.token) };
    });
    expect(passed).toEqual(SHARED);
    return client;
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
    const drained = await aDrainedClient();
    const [fresh, other] = [await instances.aClient(), await instances.aClient()];
    const stop = await instances.load(clients);

    await lost(() => node.kill());
    expect(await instances.passedBy(fresh.token)).toEqual(HALVES);
    // One more burst in total, shared by both.
    expect(await instances.passedBy(drained.token)).toEqual(HALVES);
    expect(await instances.passedBy(drained.token)).toEqual(NOTHING);
    await supersedes(drained);
    await node.restart();
    await aDrainedClient();

    await lost(() => node.freeze());
    expect(await instances.passedBy(other.token)).toEqual(HALVES);
    node.thaw();

    const { flushed, passed } = await undisturbed(async () => {
      const one = await aDrainedClient();
      await node.flush();
      return { flushed: one, passed: await instances.passedBy(one.token) };
    });
    expect(passed).toEqual(SHARED);
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
    const [drained, other] = [await aDrainedClient(), await instances.aClient()];
    const stop = await instances.load(clients);

    await lost(() => sentinels.freezePrimary());
    await holdsMeanwhile(other);
    // The replica had received the charges.
    expect(await undisturbed(() => instances.passedBy(drained.token))).toEqual(NOTHING);
    await aDrainedClient();

    // It still considers itself the primary for some seconds.
    sentinels.thawPrimary();
    expect(await undisturbed(() => instances.passedBy(drained.token))).toEqual(NOTHING);
    await supersedes(drained);
    await saidOnceEach(1);
    expect(await stop()).toEqual([]);
  });

  it('with a cluster share limits on every node, and continue with the replica of a frozen node', async () => {
    const on = (one: ClusterNode) => (clientId: string) => isOn(clientKey(clientId), one);
    instances = await InstancesOnRedis.start(api, cluster.url);
    const clients: ArrangedClient[] = [];
    for (const one of cluster.nodes) clients.push(await aDrainedClient(on(one)));
    const elsewhere = await instances.aClient(on(cluster.nodes[0] as ClusterNode));
    const [drained, other] = [await aDrainedClient(on(doubled)), await instances.aClient(on(doubled))];
    const stop = await instances.load(clients);

    await lost(() => cluster.freeze(doubled));
    await holdsMeanwhile(elsewhere);
    await holdsMeanwhile(other);
    expect(await undisturbed(() => instances.passedBy(drained.token))).toEqual(NOTHING);
    cluster.thaw(doubled);
    for (const one of cluster.nodes) await aDrainedClient(on(one));
    await supersedes(drained);

    await saidOnceEach(1);
    expect(await stop()).toEqual([]);
    // No script failed because of its content.
    expect(instances.said.filter((line) => /^Redis command failed/.test(line))).toEqual([]);
  });
});
