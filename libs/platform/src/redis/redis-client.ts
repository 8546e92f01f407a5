/**
 * The commands that are sent to Redis, whether it is one node or a cluster. Each touches the keys of one hash tag only,
 * and every key has one, so that a cluster can answer it from one node.
 */
export interface RedisClient {
  get(key: string): Promise<string | null>;
  /** Null when there is such a key already. It is gone by itself after so many milliseconds. */
  set(key: string, value: string, expiry: 'PX', milliseconds: number, condition: 'NX'): Promise<'OK' | null>;
  /** How many keys there were to delete: 0 or 1. */
  del(key: string): Promise<number>;
  /** How many of the fields there were. */
  hdel(key: string, ...fields: string[]): Promise<number>;
  eval(script: string, keyCount: number, ...keysAndArgs: (string | number)[]): Promise<unknown>;
  evalsha(digest: string, keyCount: number, ...keysAndArgs: (string | number)[]): Promise<unknown>;
}
