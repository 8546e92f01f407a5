import { randomUUID } from 'node:crypto';
import { LOCK_MS, type StoredToken, type TokenStore, type Unlock, parseStoredToken } from './token-store';

/** Sends one command to Redis, as separate words, and returns the reply. Works with any Redis library. */
export type RedisCommand = (...words: string[]) => Promise<unknown>;

const UNLOCK = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

/**
 * Shares tokens between workers on many machines. With ioredis: `new RedisTokenStore((command, ...rest) =>
 * redis.call(command, ...rest))`; with node-redis: `new RedisTokenStore((...words) => redis.sendCommand(words))`.
 */
export class RedisTokenStore implements TokenStore {
  // Private fields, so that printing a store shows no connection password.
  readonly #command: RedisCommand;
  readonly #prefix: string;

  constructor(command: RedisCommand, prefix = 'compliance-api-token:') {
    this.#command = command;
    this.#prefix = prefix;
  }

  async read(application: string): Promise<StoredToken | null> {
    const text = await this.#command('GET', this.#key(application));
    return typeof text === 'string' ? parseStoredToken(text) : null;
  }

  async write(application: string, token: StoredToken): Promise<void> {
    const remaining = Math.max(1, Math.ceil(token.usableUntil - Date.now()));
    await this.#command('SET', this.#key(application), JSON.stringify(token), 'PX', String(remaining));
  }

  async tryLock(application: string): Promise<Unlock | null> {
    const lock = `${this.#key(application)}:lock`;
    const holder = randomUUID();
    const answer = await this.#command('SET', lock, holder, 'PX', String(LOCK_MS), 'NX');
    if (answer !== 'OK') return null;
    return async () => {
      await this.#command('EVAL', UNLOCK, '1', lock, holder);
    };
  }

  #key(application: string): string {
    return `${this.#prefix}${application}`;
  }
}
