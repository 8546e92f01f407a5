/** @needs redis */
import { BorrowedRedis } from './borrowed-redis';
import { demandProgram, dockerResponds, findProgram } from './programs.cjs';
import { RedisContainer } from './redis-container';
import { RedisProcess } from './redis-process';
import { type TemporaryRedis } from './temporary-redis.port';

/**
 * Starts a Redis that ends with this process at the latest: `redis-server`, else Docker. With REDIS_URL it uses an
 * empty database of that server instead. Tests that need more than flushing then fail with a message.
 * @throws with installation instructions when none is possible
 */
export async function startTemporaryRedis(): Promise<TemporaryRedis> {
  const borrowed = process.env['REDIS_URL'];
  if (borrowed) return BorrowedRedis.at(borrowed);
  if (findProgram('redis-server') === null && dockerResponds()) return RedisContainer.start();
  return RedisProcess.start(demandProgram('redis-server'));
}
