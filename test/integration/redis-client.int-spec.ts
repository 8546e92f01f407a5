import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { RedisScript, RedisClient } from '#libs/platform/redis';
import { redisOfTheRun } from '../support/redis-of-the-run';
import { withRedis } from '../support/redis-connection';
import { RedisNode } from '../support/redis-node';
import { RedisPath } from '../support/redis-path';
import { TcpProxy } from '../support/tcp-proxy';
import { until } from '../support/until';

const url = () => new URL(redisOfTheRun());
const through = (port: number): string => Object.assign(url(), { port: String(port) }).href;
const ask = (redis: RedisClient) => redis.attempt((client) => client.hdel('{away}', 'field'));
const aKey = () => `away:${randomUUID()}`;

describe('The Redis client', () => {
  const said: string[] = [];
  const opened: RedisClient[] = [];
  const open = async (address: string): Promise<RedisClient> => {
    const redis = new RedisClient(address);
    opened.push(redis);
    await redis.onModuleInit();
    return redis;
  };
  const isUsedAgain = (redis: RedisClient): Promise<void> => until(() => redis.ping());
  /** Sends nothing. */
  const isBack = (redis: RedisClient): Promise<void> => until(() => redis.state === 'ok');
  beforeEach(() => {
    said.length = 0;
    const say = (message: unknown): void => void said.push(Object.values(message as object).join(': '));
    jest.spyOn(Logger.prototype, 'warn').mockImplementation(say);
    jest.spyOn(Logger.prototype, 'error').mockImplementation(say);
  });
  afterEach(() => {
    jest.restoreAllMocks();
    for (const redis of opened.splice(0)) redis.onApplicationShutdown();
  });

  it.each([
    ['rediss', ''],
    ['rediss+sentinel', '/primary'],
    ['rediss+cluster', ''],
  ])('never sends a password unencrypted: %s', async (scheme, path) => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const firstByte = new Promise<number | undefined>((resolve) => {
      server.on('connection', (socket) => {
        socket.on('error', () => undefined);
        socket.once('data', (bytes) => {
          resolve(bytes[0]);
          socket.destroy();
        });
      });
    });
    const redis = new RedisClient(`${scheme}://:secret@127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
    opened.push(redis);
    const start = redis.onModuleInit();
    // First byte of a TLS handshake record.
    expect(await firstByte).toBe(0x16);
    redis.onApplicationShutdown();
    await start;
    server.close();
  });

  it.each([
    ['has another password', (port: string) => `redis://:hunter2@127.0.0.1:${port}`],
    ['has no such user', (port: string) => `redis://hunter2:hunter2@127.0.0.1:${port}`],
    ['has no such database', () => Object.assign(url(), { pathname: '/60000' }).href],
    ['does not listen', () => 'redis://:hunter2@127.0.0.1:1'],
    ['has no address', () => 'redis://:hunter2@hunter2.invalid'],
    ['has no sentinel', () => 'redis+sentinel://:hunter2@127.0.0.1:1,127.0.0.1:2/hunter2?sentinelPassword=hunter2'],
    ['is no cluster', (port: string) => `redis+cluster://:hunter2@127.0.0.1:${port}`],
    ['has no node', () => 'redis+cluster://:hunter2@hunter2.invalid,127.0.0.1:1'],
  ])('logs once with the reason, and without REDIS_URL, that Redis is away: it %s', async (_name, address) => {
    const redis = await open(address(url().port));
    expect([await redis.ping(), redis.state]).toEqual([false, 'away']);
    // Connection attempts continue meanwhile.
    await delay(250);
    expect(await redis.ping()).toBe(false);
    expect(said).toEqual([expect.stringMatching(/^Redis is away: ./)]);
    expect(said[0]).not.toMatch(/unknown|hunter2|127\.0\.0\.1|no reply/);
  });

  it('treats Redis as away from the start when it refuses the database of REDIS_URL', async () => {
    const redis = await open(Object.assign(url(), { pathname: '/60000' }).href);
    expect([redis.state, said]).toEqual(['away', [expect.stringContaining('DB index is out of range')]]);
  });

  it.each([
    ['scripts', ['-eval', '-evalsha']],
    ['other commands', ['-set']],
    ['keys', ['resetkeys']],
  ])('treats Redis as away until its user may use %s', async (_, rules) => {
    const node = await RedisNode.start('secret of the server');
    const allow = (...words: string[]) =>
      withRedis(node.url, (redis) => redis.call('ACL', ['SETUSER', 'api', ...words]));
    try {
      await allow('on', '>secret', '~*', '+@all', ...rules);
      const redis = await open(node.url.replace(/:[^:@/]+@/, 'api:secret@'));
      const use = () => redis.attempt((client) => new RedisScript('return 1').run(client, [aKey()], []));
      for (let round = 0; round < 30; round += 1) {
        await use();
        await delay(100);
      }

      expect(redis.state).toBe('away');
      expect(said).toEqual([expect.stringMatching(/^Redis is away: NOPERM /)]);
      await allow('~*', '+@all');
      await isUsedAgain(redis);
      expect(await use()).toBe(1);
    } finally {
      await node.stop();
    }
  });

  it.each(['refuse', 'blackhole'] as const)(
    'delays 50 concurrent requests once, and later ones not at all (%s)',
    async (mode) => {
      const proxy = await TcpProxy.to(url().hostname, Number(url().port));
      try {
        const redis = await open(through(proxy.port));
        const fifty = async (): Promise<void> => {
          const asked = await Promise.all(Array.from({ length: 50 }, () => ask(redis)));
          expect(new Set(asked)).toEqual(new Set([undefined]));
        };
        await proxy.set(mode);

        const since = performance.now();
        await fifty();
        expect(performance.now() - since).toBeLessThan(2_000);
        // Lasts two probes. Commands do not wait for them, not even for the next turn of the event loop.
        for (const end = performance.now() + 2_500; performance.now() < end; await delay(10)) {
          const nextTurn = new Promise((resolve) => setImmediate(() => resolve('waited')));
          expect(await Promise.race([fifty(), nextTurn])).toBeUndefined();
        }

        expect(said).toEqual([expect.stringMatching(/^Redis is away: /)]);
        await proxy.set('forward');
        await isBack(redis);
        expect([said.length, said[1]]).toEqual([2, 'Redis is back']);
        await isUsedAgain(redis);
      } finally {
        await proxy.close();
      }
    },
  );

  it('lets the process start without Redis, and uses it once it is there', async () => {
    const proxy = await TcpProxy.to(url().hostname, Number(url().port));
    await proxy.set('refuse');
    const redis = await open(through(proxy.port));
    expect(redis.state).toBe('away');
    await proxy.set('forward');
    await isUsedAgain(redis);
    await proxy.close();
  });

  it('uses a Redis again whose replies take 30 ms', async () => {
    const proxy = await TcpProxy.to(url().hostname, Number(url().port));
    proxy.slowDown(15);
    await proxy.set('refuse');
    const redis = await open(through(proxy.port));
    await proxy.set('forward');
    await isUsedAgain(redis);
    await proxy.close();
  });

  it('reports nothing when no Redis is configured', async () => {
    const none = new RedisClient(null);
    await none.onModuleInit();
    expect([none.state, none.isConfigured, await ask(none)]).toEqual(['not configured', false, undefined]);
  });

  it('reconnects when the old connection leads nowhere', async () => {
    const path = await RedisPath.to(Number(url().port));
    try {
      const redis = await open(through(path.port));
      path.loseConnections();
      expect(await ask(redis)).toBeUndefined();
      await isUsedAgain(redis);
    } finally {
      await path.close();
    }
  });

  it('does not blame Redis for a late reply while this process was busy', async () => {
    const redis = await open(url().href);
    for (let round = 0; round < 5; round += 1) {
      const response = redis.attempt((client) => client.set(aKey(), 'v', 'PX', 1_000, 'NX'));
      // The command is sent at once, and the reply arrives meanwhile.
      await new Promise((resolve) => setImmediate(resolve));
      for (const end = performance.now() + 120; performance.now() < end;);
      expect(await response).toBe('OK');
    }
    expect([redis.state, said]).toEqual(['ok', []]);
  });

  it('survives a command error of Redis, which is logged once', async () => {
    const redis = await open(url().href);
    const key = aKey();
    const wrong = new RedisScript(`return redis.call('LPUSH', KEYS[1], 'x')`);
    await redis.attempt((client) => client.set(key, 'v', 'PX', 5_000, 'NX'));
    for (let round = 0; round < 3; round += 1) {
      expect(await redis.attempt((client) => wrong.run(client, [key], []))).toBeUndefined();
      expect(await ask(redis)).toBe(0);
    }
    expect(await redis.attempt(() => Promise.reject(new TypeError('ours')))).toBeUndefined();
    expect([redis.state, said.length]).toEqual(['ok', 2]);
    expect(said[0]).toMatch(/^Redis command failed: WRONGTYPE /);
  });
});
