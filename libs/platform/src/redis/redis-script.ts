import { createHash } from 'node:crypto';
import type { RedisCommands } from './redis-commands';

/**
 * A Lua script. Sent by its digest, and in full when Redis does not know it: on a new node, after a restart, after
 * SCRIPT FLUSH.
 */
export class RedisScript {
  private readonly digest: string;

  constructor(private readonly text: string) {
    this.digest = createHash('sha1').update(text).digest('hex');
  }

  /** Returns the script's result. All keys must have the same hash tag. */
  async run(redis: RedisCommands, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    try {
      return await redis.evalsha(this.digest, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
      return redis.eval(this.text, keys.length, ...keys, ...args);
    }
  }
}
