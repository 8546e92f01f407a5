import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { applicationId, workspaceId } from '#libs/kernel';
import { RedisServer, type Settings } from '#libs/platform';
import type { Grant } from '../../libs/auth/src/domain/grant';
import type { RememberedClient } from '../../libs/auth/src/domain/token-request-limiter.port';
import { TokenRequestLimiterRedis } from '../../libs/auth/src/redis/token-request-limiter.redis';
import { TokenBuckets } from '../../libs/platform/src/throttling/token-buckets';
import { startTemporaryRedis } from '../support/temporary-redis';
import type { TemporaryRedis } from '../support/temporary-redis.port';

const BURST = 5;
const SECOND = { perMinute: 60, burst: BURST };
const DIGEST = Buffer.alloc(32, 1);

describe('What a remembered client was charged', () => {
  let redis: TemporaryRedis;
  let server: RedisServer;
  let limiter: TokenRequestLimiterRedis;
  beforeAll(async () => {
    redis = await startTemporaryRedis();
    server = new RedisServer(redis.url);
    await server.onModuleInit();
    const settings = { replicas: 1, rateLimits: { token: SECOND }, accessTokenTtlSeconds: 60 } as Settings;
    limiter = new TokenRequestLimiterRedis(server, new TokenBuckets(server, settings), settings);
  });
  afterAll(async () => {
    server.onApplicationShutdown();
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
