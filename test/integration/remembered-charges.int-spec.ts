import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { applicationId, workspaceId } from '#libs/kernel';
import { RedisServer, type Settings, clientKey } from '#libs/platform';
import type { Grant } from '../../libs/auth/src/domain/grant';
import type { RememberedClient } from '../../libs/auth/src/domain/token-request-limiter.port';
import { TokenRequestLimiterRedis } from '../../libs/auth/src/redis/token-request-limiter.redis';
import { TokenBuckets } from '../../libs/platform/src/throttling/token-buckets';
import { TcpProxy } from '../support/tcp-proxy';
import { startTemporaryRedis } from '../support/temporary-redis';
import type { TemporaryRedis } from '../support/temporary-redis.port';

const BURST = 5;
const SECOND = { perMinute: 60, burst: BURST };
const DIGEST = Buffer.alloc(32, 1);

describe('What a remembered client was charged', () => {
  let redis: TemporaryRedis;
  let redisClient: Redis;
  let proxy: TcpProxy;
  let server: RedisServer;
  let limiter: TokenRequestLimiterRedis;
  beforeAll(async () => {
    redis = await startTemporaryRedis();
    redisClient = new Redis(redis.url);
    const url = new URL(redis.url);
    proxy = await TcpProxy.to(url.hostname, Number(url.port));
    url.port = String(proxy.port);
    server = new RedisServer(url.href);
    await server.onModuleInit();
    const settings = { replicas: 1, rateLimits: { token: SECOND }, accessTokenTtlSeconds: 3_600 } as Settings;
    limiter = new TokenRequestLimiterRedis(server, new TokenBuckets(server, settings), settings);
  });
  afterAll(async () => {
    server.onApplicationShutdown();
    await proxy.close();
    redisClient.disconnect();
    await redis.stop();
  });

  const aGrant = (limits: Grant['limits'] = {}): Grant => ({
    ...{ id: applicationId(randomUUID()), workspaceId: workspaceId(randomUUID()) },
    ...{ clientId: `ci_${randomUUID().replaceAll('-', '')}`, scopes: [], limits, disabled: false, generation: 1n },
  });
  const guessed = async (grant: Grant): Promise<RememberedClient> => {
    const remembered = await limiter.chargeRemembered(grant.clientId, DIGEST);
    if (!remembered) throw new Error('It is not remembered.');
    return remembered;
  };
  const passing = async (grant: Grant): Promise<number> => {
    let passed = 0;
    while ((await limiter.chargeClient(grant, DIGEST, null)).allowed) passed += 1;
    return passed;
  };

  /** As long after as it takes to fill. */
  const fill = (grant: Grant): Promise<number> => redisClient.hdel(clientKey(grant.clientId), 'full:token');

  it('stands where the look-up finds the same limit, however long Redis took before or after', async () => {
    for (const latencies of [
      [5, 0],
      [0, 5],
    ] as const) {
      const grant = aGrant({ token: { perMinute: 1, burst: 1 } });
      await limiter.chargeClient(grant, DIGEST, null);
      await fill(grant);
      proxy.slowDown(latencies[0]);
      const remembered = await guessed(grant);
      proxy.slowDown(latencies[1]);
      expect(await limiter.chargeClient(grant, DIGEST, remembered)).toMatchObject({ allowed: true, remaining: 0 });
      proxy.slowDown(0);
      expect(await passing(grant)).toBe(0);
    }
  });

  it('is one token also where others were charged meanwhile and it had come back', async () => {
    const grant = aGrant();
    await limiter.chargeClient(grant, DIGEST, null);
    await fill(grant);
    const remembered = await guessed(grant);
    for (let count = 1; count < BURST; count += 1) await limiter.chargeClient(grant, DIGEST, null);
    await delay(1_050);
    expect(await limiter.chargeClient(grant, DIGEST, remembered)).toMatchObject({ allowed: true });
    expect(await passing(grant)).toBe(1);
  });

  it('is given back by the clock of Redis where the look-up finds another limit', async () => {
    for (const latencies of [
      [5, 0],
      [0, 5],
    ] as const) {
      const grant = aGrant();
      await limiter.chargeClient(grant, DIGEST, null);
      await fill(grant);
      proxy.slowDown(latencies[0]);
      const remembered = await guessed(grant);
      proxy.slowDown(latencies[1]);
      const changed = { ...grant, limits: { token: { perMinute: 1, burst: 1 } } };
      expect(await limiter.chargeClient(changed, DIGEST, remembered)).toMatchObject({ allowed: true });
      proxy.slowDown(0);
      expect(await passing(changed)).toBe(0);
    }
  });

  it('leaves nothing in Redis that stays forever, or that is gone before its time', async () => {
    const grant = aGrant();
    const key = clientKey(grant.clientId);
    await limiter.chargeClient(grant, DIGEST, null);
    const remembered = await guessed(grant);
    await redisClient.del(key);
    await limiter.chargeClient(grant, DIGEST, remembered);
    const life = await redisClient.pttl(key);
    expect(life).toBeGreaterThan(7_000_000);
  });

  it('is given back whole where it has not come back', async () => {
    const grant = aGrant({ token: { perMinute: 1, burst: BURST } });
    await limiter.chargeClient(grant, DIGEST, null);
    const remembered = await guessed(grant);
    expect(await passing(grant)).toBe(BURST - 2);
    await limiter.giveBack(remembered);
    expect(await passing(grant)).toBe(1);
  });

  it('is not given back again once it has come back by itself', async () => {
    const grant = aGrant();
    await limiter.chargeClient(grant, DIGEST, null);
    await delay(1_050);
    const remembered = await guessed(grant);
    expect(remembered.charge.remaining).toBe(BURST - 1);
    await delay(1_050);
    expect(await passing(grant)).toBeGreaterThanOrEqual(BURST);
    await limiter.giveBack(remembered);
    expect(await limiter.chargeClient(grant, DIGEST, null)).toMatchObject({ allowed: false });
  });
});
