/**
 * The Redis commands in use, for one node or a cluster. Each uses keys of one hash tag only, so that one node of a
 * cluster can run it.
 */
export interface RedisCommands {
  /** Returns null when the key exists. The key expires after `milliseconds`. */
  set(key: string, value: string, expiry: 'PX', milliseconds: number, condition: 'NX'): Promise<'OK' | null>;
  /** Returns the number of removed fields. */
  hdel(key: string, ...fields: string[]): Promise<number>;
  eval(script: string, keyCount: number, ...keysAndArgs: (string | number)[]): Promise<unknown>;
  evalsha(digest: string, keyCount: number, ...keysAndArgs: (string | number)[]): Promise<unknown>;
}
