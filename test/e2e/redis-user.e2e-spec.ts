/** @quiet An instance that waits for Redis for more than 50 ms says so in its log. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { RedisClient } from '#libs/platform/redis';
import { openOperator } from '../support/operator';
import { RedisCluster } from '../support/redis-cluster';
import { withRedis } from '../support/redis-connection';
import { RedisNode } from '../support/redis-node';
import { RedisSentinels } from '../support/redis-sentinels';
import { SPECIFIED_LIMITS, startApp } from '../support/start-app';

const ADMIN = 'secret of the server';
/** The rules in each ACL SETUSER of docs/settings.md: for a user of Redis, and for one of its sentinels. */
const [OF_NODES = [], OF_SENTINELS = []] = [
  ...readFileSync(join(__dirname, '../../docs/settings.md'), 'utf8').matchAll(/^ACL SETUSER (.+)$/gm),
].map(([, words = '']) => words.split(' '));
const nameOf = ([name = '']: readonly string[]): string => name;
const passwordOf = (words: readonly string[]): string => words.find((word) => word.startsWith('>'))?.slice(1) ?? '';
const ADMIN_ACCESS = /:[^:@/]+@/;
const USER_ACCESS = `${nameOf(OF_NODES)}:${passwordOf(OF_NODES)}@`;

interface Servers {
  /** Connects as the default user, which may do everything. */
  readonly url: string;
  readonly nodes: readonly string[];
  readonly sentinels: readonly string[];
  stop(): Promise<void>;
}

async function oneNode(): Promise<Servers> {
  const node = await RedisNode.start(ADMIN);
  return { url: node.url, nodes: [node.url], sentinels: [], stop: () => node.stop() };
}

async function sentinels(): Promise<Servers> {
  const set = await RedisSentinels.start({ redis: ADMIN, sentinel: ADMIN });
  return { url: set.url, nodes: set.nodeUrls, sentinels: [set.sentinelUrl], stop: () => set.stop() };
}

async function aCluster(): Promise<Servers> {
  const cluster = await RedisCluster.start(ADMIN);
  return { url: cluster.url, nodes: cluster.nodes.map(({ url }) => url), sentinels: [], stop: () => cluster.stop() };
}

const onEach = <Result>(urls: readonly string[], command: string, ...words: string[]): Promise<Result[]> =>
  Promise.all(urls.map((url) => withRedis(url, (redis) => redis.call(command, words) as Promise<Result>)));

/** Returns the commands and keys that these servers refused to anyone. */
const refusedBy = async (urls: readonly string[]): Promise<string[]> =>
  (await onEach<unknown[]>(urls, 'ACL', 'LOG')).flat().map((entry) => /object,([^,]+)/.exec(String(entry))?.[1] ?? '');

describe.each([
  ['one node', oneNode],
  ['sentinels and what they watch', sentinels],
  ['a cluster', aCluster],
])('Redis users with the documented rights, of %s', (_, start) => {
  it('may run every command of the API', async () => {
    const servers = await start();
    await onEach(servers.nodes, 'ACL', 'SETUSER', ...OF_NODES);
    await onEach(servers.sentinels, 'ACL', 'SETUSER', ...OF_SENTINELS);
    const url = servers.url
      .replace(ADMIN_ACCESS, USER_ACCESS)
      .replace(/Password=.*/, `User=${nameOf(OF_SENTINELS)}&sentinelPassword=${passwordOf(OF_SENTINELS)}`);
    const app = await startApp({ ...SPECIFIED_LIMITS, REDIS_URL: url });
    const operator = await openOperator(app);
    const server = new RedisClient(url);
    await server.onModuleInit();
    try {
      const workspace = await app.arrange.aWorkspace();
      const { id } = await app.arrange.anAsset(workspace);
      for (let round = 0; round < 8; round += 1) {
        const { clientId, clientSecret } = await app.arrange.anApplication(workspace);
        const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
        const wrong = await app.client().requestToken({ ...form, client_secret: 'wrong' });
        expect(wrong.status).toBe(401);
        await app.client().requestToken(form);
        const token = (await app.client().requestToken(form)).body['access_token'] as string;
        const client = app.client(token);
        const [path, key] = [`/v1/inventory/assets/${id}`, { 'Idempotency-Key': randomUUID() }];
        for (const send of [
          () => client.get(path),
          () => client.get(path),
          () => client.patch(path, { description: `${round}` }, key),
          () => client.patch(path, { description: `${round}` }, key),
        ]) {
          expect((await send()).status).toBe(200);
        }
        await operator.applications.setScopes(clientId, ['inventory:write']);
        expect((await client.get(path)).status).toBe(403);
      }
      expect(await server.ping()).toBe(true);
      // Commands that are needed only while slots move or on a replica. A single node refuses them outside a cluster.
      const asUser = servers.nodes.map((node) => node.replace(ADMIN_ACCESS, USER_ACCESS));
      for (const word of ['ASKING', 'READONLY', 'READWRITE']) await onEach(asUser, word).catch(() => undefined);
      expect(await refusedBy(servers.nodes)).toEqual([]);
      expect((await refusedBy(servers.sentinels)).filter((word) => !word.startsWith('client'))).toEqual([]);
      // On a busy machine a command may take longer than the 50 ms after which Redis counts as away.
      const said = app.logLines.map(({ message }) => String(message)).filter((line) => line.includes('Redis'));
      expect(said.filter((line) => !/^Redis is (away|back)$/.test(line))).toEqual([]);
      const kept = await onEach<number>(servers.nodes, 'DBSIZE');
      expect(kept.reduce((sum, keys) => sum + keys, 0)).toBeGreaterThan(8);
    } finally {
      server.onApplicationShutdown();
      await operator.close();
      await app.stop();
      await servers.stop();
    }
  });
});
