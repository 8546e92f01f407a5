import { BorrowedRedis } from './borrowed-redis';
import { RedisContainer } from './redis-container';
import { RedisProcess } from './redis-process';
import { findRedisProgram } from './redis-program';
import { type TemporaryRedis } from './temporary-redis.port';

/**
 * REDIS_URL if it is set, and then an empty database of that server; otherwise a server of our own on a free port of
 * 127.0.0.1, gone when it is stopped or when this process ends, however it ends. One that is borrowed can only be
 * flushed: the tests that need more of it fail and say so.
 */
export async function startTemporaryRedis(): Promise<TemporaryRedis> {
  const borrowed = process.env['REDIS_URL'];
  if (borrowed) return BorrowedRedis.at(borrowed);
  const program = findRedisProgram();
  return program.kind === 'docker' ? RedisContainer.start() : RedisProcess.start(program.path);
}
