import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { applicationId, workspaceId } from '#libs/kernel';
import { RedisClient } from '#libs/platform/redis';
import { type Settings } from '#libs/platform/config';
import { clientKey } from '#libs/platform/throttling';
import type { Grant } from '../../libs/auth/src/domain/application';
import { GrantCache } from '../../libs/auth/src/domain/grant-cache.port';
import { GrantCacheRedis } from '../../libs/auth/src/redis/grant-cache.redis';
import { ConsoleModule } from '../../libs/console/src/console.module';
import { redisOfTheRun } from '../support/redis-of-the-run';

describe('A cached grant', () => {
  let redis: Redis;
  let server: RedisClient;
  let cache: GrantCacheRedis;
  let grant: Grant;
  beforeAll(async () => {
    const url = redisOfTheRun();
    redis = new Redis(url);
    server = new RedisClient(url);
    await server.onModuleInit();
    const rateLimits = { read: { perMinute: 60, burst: 60 } };
    const settings = { replicas: 1, databaseStandbyUrls: [] as readonly string[], rateLimits } as Settings;
    cache = new GrantCacheRedis(server, settings, false);
  });
  beforeEach(() => {
    grant = {
      ...{ id: applicationId(randomUUID()), workspaceId: workspaceId(randomUUID()), clientId: `ci_${randomUUID()}` },
      ...{ scopes: [], limits: {}, disabled: false, generation: 1n },
    };
  });
  afterAll(async () => {
    server.onApplicationShutdown();
    await redis.quit();
  });

  const check = () => cache.checkAndCharge(grant.clientId, grant.generation, 'read');
  const reserve = async (): Promise<string> => {
    const checked = await check();
    if (checked.kind !== 'missing') throw new Error(`It is ${checked.kind}`);
    return checked.reservation;
  };

  it('is trusted for two seconds from before Postgres was asked, however long that took', async () => {
    const reservation = await reserve();
    await delay(1_000);
    await cache.store(grant, reservation);
    expect((await check()).kind).toBe('current');
    await delay(1_200);
    expect((await check()).kind).toBe('missing');
  });

  it('leaves nothing behind when nobody waits for the result of Postgres', async () => {
    await reserve();
    const left = await redis.pttl(clientKey(grant.clientId));
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(10_000);
  });
});

describe('A console without REDIS_URL', () => {
  interface Provider {
    readonly provide?: unknown;
    readonly useFactory?: (redis: RedisClient, settings: object) => GrantCache;
  }
  const providers = Reflect.getMetadata('providers', ConsoleModule) as Provider[];
  const secondsOfChange = async (production: boolean): Promise<number> => {
    const ofTheConsole = providers.find(({ provide }) => provide === GrantCache);
    const cache = ofTheConsole?.useFactory?.(new RedisClient(null), { production, databaseStandbyUrls: [] });
    const since = performance.now();
    await cache?.invalidate('ci_1');
    return (performance.now() - since) / 1000;
  };

  it('ends a change in production once no instance holds the old grant, and at once elsewhere', async () => {
    expect(await secondsOfChange(true)).toBeGreaterThan(2);
    expect(await secondsOfChange(false)).toBeLessThan(1);
  });
});
