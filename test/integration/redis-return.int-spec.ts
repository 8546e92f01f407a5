/** @quiet A busy machine reaches the limit of 50 ms for a command of Redis. */
import { setTimeout as delay } from 'node:timers/promises';
import { RedisNode } from '../support/redis-node';
import { InstancesOnRedis } from '../support/instances-on-redis';
import { type TestApp, startApp } from '../support/start-app';

/** Longer than the lease of a cached grant. */
const WATCHED_MS = 3_000;

describe('A Redis that returns with data from before a token was superseded', () => {
  let api: TestApp;
  let node: RedisNode;
  let instances: InstancesOnRedis;
  beforeAll(async () => {
    [api, node] = await Promise.all([startApp(), RedisNode.start('secret')]);
  });
  beforeEach(async () => {
    instances = await InstancesOnRedis.start(api, node.url);
  });
  afterEach(() => instances.stop());
  afterAll(async () => {
    await Promise.all([api?.stop(), node?.stop()]);
  });

  /** Both instances have accepted a token, as the node has saved. Then the token was superseded and the node killed. */
  const killedAfterwards = async (): Promise<{ readonly old: string; readonly token: string }> => {
    const client = await instances.aClient();
    expect(await instances.accepted(client.token)).toEqual([200, 200]);
    await node.remember();
    const token = await client.issue();
    await node.kill();
    return { old: client.token, token };
  };
  /** Collects every response of both instances to this token for the length of a lease. */
  const responsesTo = async (token: string): Promise<unknown[]> => {
    const responses = new Set<unknown>();
    for (const until = performance.now() + WATCHED_MS; performance.now() < until; await delay(20)) {
      for (const response of await instances.accepted(token)) responses.add(response);
    }
    return [...responses];
  };

  it('makes no instance accept the old token, even if none noticed the outage', async () => {
    const { old, token } = await killedAfterwards();
    await node.restart();
    await node.connectedTo(2);
    expect(await responsesTo(old)).toEqual(['token_superseded']);
    expect(await instances.accepted(token)).toEqual([200, 200]);
  });

  it('makes no instance accept the old token when requests noticed the outage', async () => {
    const { old, token } = await killedAfterwards();
    expect(await instances.accepted(old)).toEqual(['token_superseded', 'token_superseded']);
    await node.restart();
    expect(await responsesTo(old)).toEqual(['token_superseded']);
    expect(await instances.accepted(token)).toEqual([200, 200]);
    expect(instances.said.at(-1)).toMatch(/^Redis is back$/);
  });
});
