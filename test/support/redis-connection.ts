import { Redis } from 'ioredis';

/** Runs `work` on its own connection, which fails instead of waiting for an absent server. */
export async function withRedis<Result>(url: string, work: (redis: Redis) => Promise<Result>): Promise<Result> {
  const redis = new Redis(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    disableClientInfo: true,
  });
  // The failing command reports the error.
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}

/**
 * Waits until the server at this address responds.
 * @throws the last error after `seconds`, or the error of `assertAlive`
 */
export async function untilRedisResponds(url: string, seconds: number, assertAlive = () => undefined): Promise<void> {
  for (const deadline = Date.now() + seconds * 1000; ;) {
    try {
      await withRedis(url, (redis) => redis.ping());
      return;
    } catch (error) {
      assertAlive();
      if (Date.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
