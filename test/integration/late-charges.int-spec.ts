import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { type Charge, applicationId, workspaceId } from '#libs/kernel';
import { RedisServer, type Settings } from '#libs/platform';
import type { Grant } from '../../libs/auth/src/domain/grant';
import { GrantCopiesRedis } from '../../libs/auth/src/redis/grant-copies.redis';
import { TokenBuckets } from '../../libs/platform/src/throttling/token-buckets';
import { startTemporaryRedis } from '../support/temporary-redis';
import type { TemporaryRedis } from '../support/temporary-redis.port';

const CLIENT = `ci_${'0'.repeat(32)}`;
const GRANT: Grant = {
  ...{ id: applicationId(randomUUID()), workspaceId: workspaceId(randomUUID()), clientId: CLIENT },
  ...{ scopes: [], limits: {}, disabled: false, generation: 1n },
};

describe('Requests that Redis does not answer in time', () => {
  const limit = { perMinute: 1, burst: 100 };
  let redis: TemporaryRedis;
  let server: RedisServer;
  let grants: GrantCopiesRedis;
  let charge: () => Promise<Charge>;
  beforeEach(async () => {
    jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    redis = await startTemporaryRedis();
    server = new RedisServer(redis.url);
    await server.onModuleInit();
    const rateLimits = { read: limit, token: limit };
    const settings = {
      replicas: 1,
      databaseReplicaUrls: [] as string[],
      rateLimits,
      accessTokenTtlSeconds: 60,
    } as unknown as Settings;
    const buckets = new TokenBuckets(server, settings);
    grants = new GrantCopiesRedis(server, settings, buckets, false);
    charge = () => buckets.charge(CLIENT, 'read', limit);
    await charge();
  });
  afterEach(async () => {
    server.onApplicationShutdown();
    await redis.stop();
    jest.restoreAllMocks();
  });
  /** Twenty at once that Redis is asked for, and two that it is not. */
  const askInVain = async (ask: () => Promise<unknown>): Promise<void> => {
    await redis.freeze();
    await Promise.all(Array.from({ length: 20 }, ask));
    expect(server.state).toBe('away');
    await charge();
    await charge();
  };
  const check = () => grants.check(CLIENT, GRANT.generation, 'read');
  const checkOrCharge = async () =>
    expect([await check(), (await charge()).allowed]).toMatchObject([{ kind: 'away' }, true]);
  const isBack = async (): Promise<void> => {
    for (const deadline = Date.now() + 20_000; server.state !== 'ok' && Date.now() < deadline; await delay(50)) {
      await server.ping();
    }
  };

  it('are charged once where it does what it was asked for too late', async () => {
    await askInVain(charge);
    await redis.thaw();
    await isBack();
    expect((await charge()).remaining).toBe(100 - 1 - 20 - 2 - 1);
  });

  it('are charged also where it never does it, and comes back empty', async () => {
    await askInVain(charge);
    await redis.end('SIGKILL');
    await redis.startAgain();
    await isBack();
    expect((await charge()).remaining).toBe(100 - 20 - 2 - 1);
  });

  it('are charged once where they ask for the grant as well, whether it is still known when Redis looks or not', async () => {
    await askInVain(checkOrCharge);
    await redis.thaw();
    await isBack();
    expect((await charge()).remaining).toBe(100 - 1 - 20 - 2 - 1);
    const copy = await check();
    await grants.keep(GRANT, copy.kind === 'missing' ? copy.reservation : '', null);
    await askInVain(checkOrCharge);
    await redis.thaw();
    await isBack();
    expect((await charge()).remaining).toBe(100 - 1 - 20 - 2 - 1 - 20 - 2 - 1);
  });
});
