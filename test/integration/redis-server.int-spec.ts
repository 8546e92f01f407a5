import { randomUUID } from 'node:crypto';
import { applicationId, workspaceId } from '#libs/kernel';
import { RedisServer } from '#libs/platform';
import { KeyLease } from '../../libs/platform/src/idempotency/key-lease';
import { redisOfTheRun } from '../support/redis-of-the-run';
import { TcpProxy } from '../support/tcp-proxy';

const delay = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const url = () => new URL(redisOfTheRun());
const aKey = () => ({
  workspaceId: workspaceId(randomUUID()),
  applicationId: applicationId(randomUUID()),
  keyHash: randomUUID(),
  fingerprint: '',
});

describe('Redis', () => {
  let proxy: TcpProxy;
  let redis: RedisServer;
  beforeEach(async () => {
    proxy = await TcpProxy.to(url().hostname, Number(url().port));
    const proxied = url();
    proxied.port = String(proxy.port);
    redis = new RedisServer(proxied.href);
    await redis.onModuleInit();
  });
  afterEach(async () => {
    redis.onApplicationShutdown();
    await proxy.close();
  });

  it.each(['refuse', 'blackhole'] as const)(
    'costs little once when it is away (%s), next to nothing after that, and is used again when it is back',
    async (mode) => {
      expect(await redis.ping()).toBe(true);
      await proxy.set(mode);
      const since = performance.now();
      expect(await redis.attempt((client) => client.get('k'))).toBeUndefined();
      const [first, then] = [performance.now() - since, performance.now()];
      for (let index = 0; index < 100; index += 1) await redis.attempt((client) => client.get('k'));
      expect(first).toBeLessThan(3_000);
      // A hundred more are not a hundred times the wait: nothing is sent while Redis is left alone.
      expect(performance.now() - then).toBeLessThan(4_000);
      await proxy.set('forward');
      for (let tries = 0; !(await redis.ping()); tries += 1) {
        if (tries === 600) throw new Error('Redis did not come back');
        await delay(100);
      }
    },
  );

  it('that is away at the start does not keep the process from starting', async () => {
    await proxy.set('refuse');
    const proxied = url();
    proxied.port = String(proxy.port);
    const late = new RedisServer(proxied.href);
    await late.onModuleInit();
    expect(await late.ping()).toBe(false);
    await proxy.set('forward');
    for (let tries = 0; !(await late.ping()); tries += 1) {
      if (tries === 600) throw new Error('Redis was never reached');
      await delay(100);
    }
    late.onApplicationShutdown();
  });

  it('is not missed where none is configured', async () => {
    const none = new RedisServer(null);
    await none.onModuleInit();
    expect([none.state, none.isConfigured, await none.attempt((client) => client.get('k'))]).toEqual([
      'not configured',
      false,
      undefined,
    ]);
    expect(await new KeyLease(none).take(aKey())).not.toBeNull();
  });

  describe('the lease of a key', () => {
    it('is had by one at a time, and by the next as soon as it is given back', async () => {
      const key = aKey();
      const lease = new KeyLease(redis);
      const release = await lease.take(key);
      expect(release).not.toBeNull();
      expect(await lease.take(key)).toBeNull();
      expect(await lease.take({ ...key, applicationId: applicationId(randomUUID()) })).not.toBeNull();
      release?.();
      const since = performance.now();
      while ((await lease.take(key)) === null) await delay(5);
      expect(performance.now() - since).toBeLessThan(2_500);
    });

    it('of a process that died runs out within seconds', async () => {
      const key = aKey();
      const lease = new KeyLease(redis);
      await lease.take(key);
      const since = performance.now();
      while ((await lease.take(key)) === null) await delay(50);
      expect(performance.now() - since).toBeLessThan(30_000);
    });

    it('that ran out is not taken from the one who has it now', async () => {
      const key = aKey();
      const lease = new KeyLease(redis);
      const late = await lease.take(key);
      await redis.attempt((client) => client.del(`{${key.applicationId}}:idempotency:${key.keyHash}`));
      await lease.take(key);
      late?.();
      expect(await lease.take(key)).toBeNull();
    });

    it('is had by everybody when Redis is away', async () => {
      const key = aKey();
      const lease = new KeyLease(redis);
      await lease.take(key);
      await proxy.set('refuse');
      expect(await lease.take(key)).not.toBeNull();
    });
  });
});
