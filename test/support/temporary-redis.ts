/** @needs redis */
import { BorrowedRedis } from './borrowed-redis';
import { demandProgram, dockerAnswers, findProgram } from './programs.cjs';
import { RedisContainer } from './redis-container';
import { RedisProcess } from './redis-process';
import { type TemporaryRedis } from './temporary-redis.port';

/**
 * Starts a Redis that is gone when it is stopped or when this process ends, however it ends: `redis-server`, else Docker.
 * With REDIS_URL it takes an empty database of that server instead. Tests that need more of such a Redis than to flush it
 * fail and say so.
 *
 * @throws with what to install when there is no way.
 */
export async function startTemporaryRedis(): Promise<TemporaryRedis> {
  const borrowed = process.env['REDIS_URL'];
  if (borrowed) return BorrowedRedis.at(borrowed);
  if (findProgram('redis-server') === null && dockerAnswers()) return RedisContainer.start();
  return RedisProcess.start(demandProgram('redis-server'));
}
