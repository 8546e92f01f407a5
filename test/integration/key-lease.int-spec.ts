import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { RedisClient } from '#libs/platform/redis';
import { applicationId, workspaceId } from '#libs/kernel';
import { KeyLease } from '../../libs/platform/src/idempotency/key-lease';
import { redisOfTheRun } from '../support/redis-of-the-run';

describe('The lease of a key that several processes wait for', () => {
  const url = redisOfTheRun();
  const servers: RedisClient[] = [];
  let redis: Redis;
  beforeAll(() => {
    redis = new Redis(url);
  });
  const aProcess = async (address: string | null = url): Promise<KeyLease> => {
    const server = new RedisClient(address);
    servers.push(server);
    await server.onModuleInit();
    return new KeyLease(server);
  };
  afterAll(() => {
    servers.forEach((server) => server.onApplicationShutdown());
    redis.disconnect();
  });
  const aKey = () => ({
    ...{ workspaceId: workspaceId(randomUUID()), applicationId: applicationId(randomUUID()) },
    ...{ keyHash: 'aa', fingerprint: 'bb' },
  });

  it('belongs to one process until returned, separately for each application', async () => {
    const [one, other] = [await aProcess(), await aProcess()];
    const key = aKey();
    const giveBack = await one.take(key);
    expect([giveBack, await other.take(key), await one.take(key)]).toEqual([expect.any(Function), null, null]);
    expect(await other.take({ ...aKey(), keyHash: key.keyHash })).not.toBeNull();
    giveBack?.();
    // Uses another connection, which may overtake the release.
    for (const deadline = Date.now() + 60_000; (await other.take(key)) === null;) {
      if (Date.now() > deadline) throw new Error('was not given back');
    }
  });

  it('cannot be returned by its late holder once another process has it', async () => {
    const [one, other] = [await aProcess(), await aProcess()];
    const key = aKey();
    const name = `{${key.applicationId}}:idempotency:${key.keyHash}`;
    const late = await one.take(key);
    expect(await redis.pttl(name)).toBeGreaterThan(0);
    await redis.del(name);
    await other.take(key);
    const theirs = await redis.get(name);
    late?.();
    // Follows the release, because commands of one connection keep their order.
    expect([await one.take(key), await redis.get(name)]).toEqual([null, theirs]);
  });

  it('belongs to everybody without Redis', async () => {
    const [one, other, key] = [await aProcess(null), await aProcess(null), aKey()];
    expect([await one.take(key), await other.take(key)]).toEqual([expect.any(Function), expect.any(Function)]);
  });
});
