/**
 * The commands that are sent to Redis, whether it is one node or a cluster. Each touches the keys of one hash tag only,
 * so that one node of a cluster can run it.
 */
export interface RedisCommands {
  /** Null when there is such a key already. It expires after so many milliseconds. */
  set(key: string, value: string, expiry: 'PX', milliseconds: number, condition: 'NX'): Promise<'OK' | null>;
  /** How many of the fields there were. */
  hdel(key: string, ...fields: string[]): Promise<number>;
  eval(script: string, keyCount: number, ...keysAndArgs: (string | number)[]): Promise<unknown>;
  evalsha(digest: string, keyCount: number, ...keysAndArgs: (string | number)[]): Promise<unknown>;
}
