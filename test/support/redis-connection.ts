import { Redis } from 'ioredis';

/** Does `work` on a connection of its own, which fails rather than waits for a server that is away. */
export async function withRedis<Result>(url: string, work: (redis: Redis) => Promise<Result>): Promise<Result> {
  const redis = new Redis(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    disableClientInfo: true,
  });
  // What goes wrong is seen by the command that fails.
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}

/** Waits until the server at this address answers; throws what went wrong last after `seconds`, or what `assertAlive` throws. */
export async function untilRedisAnswers(url: string, seconds: number, assertAlive = () => undefined): Promise<void> {
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
