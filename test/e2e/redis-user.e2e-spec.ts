import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { RedisServer } from '#libs/platform';
import { openOperator } from '../support/operator';
import { RedisCluster } from '../support/redis-cluster';
import { withRedis } from '../support/redis-connection';
import { RedisNode } from '../support/redis-node';
import { SPECIFIED_LIMITS, startApp } from '../support/start-app';

const ADMIN = 'secret of the server';
/** The words behind ACL SETUSER that the page on settings gives. */
const RULES = (/^ACL SETUSER (.+)$/m.exec(readFileSync(join(__dirname, '../../docs/settings.md'), 'utf8'))?.[1] ?? '')
  .split(' ')
  .filter((word) => word !== '');

describe.each([
  ['one node', () => RedisNode.start(ADMIN), ({ url }: RedisNode) => [url]],
  ['a cluster', () => RedisCluster.start(ADMIN), ({ nodes }: RedisCluster) => nodes.map(({ url }) => url)],
] as [string, () => Promise<RedisNode | RedisCluster>, (redis: object) => string[]][])(
  'A user of Redis with the rights that the documentation names, on %s',
  (_, start, urlsOf) => {
    it('may do all that the API asks of it', async () => {
      const redis = await start();
      const nodes = urlsOf(redis);
      await Promise.all(nodes.map((url) => withRedis(url, (node) => node.call('ACL', ['SETUSER', ...RULES]))));
      const url = redis.url.replace(
        /:[^:@/]+@/,
        `${RULES[0]}:${RULES.find((word) => word.startsWith('>'))?.slice(1)}@`,
      );
      const app = await startApp({ ...SPECIFIED_LIMITS, REDIS_URL: url });
      const operator = await openOperator(app);
      const server = new RedisServer(url);
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
        const refused = await Promise.all(nodes.map((node) => withRedis(node, (each) => each.call('ACL', ['LOG']))));
        expect(refused.flat()).toEqual([]);
        const said = app.logLines.map(({ message }) => String(message)).filter((line) => line.includes('Redis'));
        expect(said).toEqual([]);
        const kept = await Promise.all(nodes.map((node) => withRedis(node, (each) => each.dbsize())));
        expect(kept.reduce((sum, keys) => sum + keys, 0)).toBeGreaterThan(8);
      } finally {
        server.onApplicationShutdown();
        await operator.close();
        await app.stop();
        await redis.stop();
      }
    });
  },
);
