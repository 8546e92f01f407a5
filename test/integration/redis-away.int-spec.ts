import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { RedisScript, RedisServer } from '#libs/platform';
import { withRedis } from '../support/redis-connection';
import { redisOfTheRun } from '../support/redis-of-the-run';
import { RedisPath } from '../support/redis-path';
import { TcpProxy } from '../support/tcp-proxy';

const url = () => new URL(redisOfTheRun());
const through = (port: number): string => Object.assign(url(), { port: String(port) }).href;
const aKey = () => `away:${randomUUID()}`;

describe('A Redis that goes away', () => {
  const said: string[] = [];
  const opened: RedisServer[] = [];
  const open = async (address: string): Promise<RedisServer> => {
    const redis = new RedisServer(address);
    opened.push(redis);
    await redis.onModuleInit();
    return redis;
  };
  const isUsedAgain = async (redis: RedisServer): Promise<void> => {
    for (const deadline = Date.now() + 8_000; !(await redis.ping());) {
      if (Date.now() > deadline) throw new Error('Redis is not used again');
      await delay(50);
    }
  };
  beforeEach(() => {
    said.length = 0;
    const say = (message: unknown): void => void said.push(String(message));
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
  ])('is never spoken to in the clear: %s', async (scheme, path) => {
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
    const redis = new RedisServer(`${scheme}://:secret@127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
    opened.push(redis);
    const start = redis.onModuleInit();
    // A TLS record of a handshake.
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
  ])('is said to be so once, with the reason and nothing of REDIS_URL: it %s', async (_name, address) => {
    const redis = await open(address(url().port));
    expect([await redis.ping(), redis.state]).toEqual([false, 'away']);
    // Meanwhile it is tried again and again.
    await delay(250);
    expect(await redis.ping()).toBe(false);
    expect(said).toEqual([expect.stringMatching(/^Redis is away, and is done without: ./)]);
    expect(said[0]).not.toMatch(/unknown|hunter2|127\.0\.0\.1|no answer/);
  });

  it('is away from the start where it refuses the database that REDIS_URL names', async () => {
    const redis = await open(Object.assign(url(), { pathname: '/60000' }).href);
    expect([redis.state, said]).toEqual(['away', [expect.stringContaining('DB index is out of range')]]);
  });

  it('costs each of 50 requests at once one wait, and then nobody: a probe tries whether it is back', async () => {
    const proxy = await TcpProxy.to(url().hostname, Number(url().port));
    try {
      const redis = await open(through(proxy.port));
      const fifty = () =>
        Promise.all(
          Array.from({ length: 50 }, async () => {
            const since = performance.now();
            expect(await redis.attempt((client) => client.get('k'))).toBeUndefined();
            return performance.now() - since;
          }),
        );
      const sent = jest.spyOn(Redis.prototype, 'sendCommand');
      await proxy.set('blackhole');
      // Half of them come while the first ones wait, and are answered with them.
      const early = fifty();
      await delay(25);
      const late = fifty();
      expect(Math.max(...(await early), ...(await late))).toBeLessThan(2_000);
      sent.mockClear();
      const asked = (): string[] => sent.mock.calls.map(([{ name }]) => name);
      while (!asked().includes('set')) {
        await fifty();
        await delay(10);
      }
      // The probe is under way.
      await fifty();
      expect(asked()).not.toContain('get');
      expect(said).toEqual(['Redis is away, and is done without: no answer in time']);
      const probed = sent.mock.calls.map(([{ name, args }]) => (name === 'set' ? String(args[0]) : '')).find(Boolean);
      const left = withRedis(url().href, async (observer) => {
        let milliseconds = -2;
        for (const deadline = Date.now() + 8_000; milliseconds === -2 && Date.now() < deadline;) {
          milliseconds = await observer.pttl(String(probed));
        }
        return milliseconds;
      });
      await proxy.set('forward');
      // No other key is asked for meanwhile: the probe would be about that.
      while (redis.state === 'away') await delay(20);
      expect(said.slice(1)).toEqual(['Redis answers again.']);
      // What the probe wrote is gone by itself.
      expect(await left).toBeGreaterThan(0);
      expect(await left).toBeLessThanOrEqual(1_000);
    } finally {
      await proxy.close();
    }
  });

  it('is used again on a new connection when the old one leads nowhere any more', async () => {
    const path = await RedisPath.to(Number(url().port));
    try {
      const redis = await open(through(path.port));
      path.loseConnections();
      expect(await redis.attempt((client) => client.get('k'))).toBeUndefined();
      await isUsedAgain(redis);
    } finally {
      await path.close();
    }
  });

  it('is not one that answered while this process was busy with something else', async () => {
    const redis = await open(url().href);
    for (let round = 0; round < 5; round += 1) {
      const answer = redis.attempt((client) => client.set(aKey(), 'v', 'PX', 1_000, 'NX'));
      // The command leaves at once and the answer comes meanwhile.
      await new Promise((resolve) => setImmediate(resolve));
      for (const until = performance.now() + 120; performance.now() < until;);
      expect(await answer).toBe('OK');
    }
    expect([redis.state, said]).toEqual(['ok', []]);
  });

  it('is not one that finds a command wrong: that command is done without, which is logged once', async () => {
    const redis = await open(url().href);
    const key = aKey();
    const wrong = new RedisScript(`return redis.call('LPUSH', KEYS[1], 'x')`);
    await redis.attempt((client) => client.set(key, 'v', 'PX', 5_000, 'NX'));
    for (let round = 0; round < 3; round += 1) {
      expect(await redis.attempt((client) => wrong.run(client, [key], []))).toBeUndefined();
      expect(await redis.attempt((client) => client.get(key))).toBe('v');
    }
    expect(await redis.attempt(() => Promise.reject(new TypeError('ours')))).toBeUndefined();
    expect([redis.state, said.length]).toEqual(['ok', 2]);
    expect(said[0]).toMatch(/^A command to Redis failed, and was done without: WRONGTYPE /);
  });
});
