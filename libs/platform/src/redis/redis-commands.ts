import { createHash } from 'node:crypto';
import { type Cluster, Redis } from 'ioredis';
import { traceCall } from '../observability/tracing';
import type { CircuitBreaker } from './circuit-breaker';

/**
 * The Redis commands in use, for one node or a cluster. Each uses keys of one hash tag only, so that one node of a
 * cluster can run it.
 */
export type RedisCommands = Pick<GuardedCommands, 'set' | 'hdel' | 'eval' | 'evalsha'>;

type Values = readonly (string | number)[];

/** Sends every command through the circuit breaker, and fails instead of waiting for a connection. */
export class GuardedCommands {
  constructor(
    private readonly client: Redis | Cluster,
    private readonly breaker: CircuitBreaker,
  ) {}

  /** Returns null when the key exists. The key expires after `milliseconds`. */
  async set(key: string, value: string, expiry: 'PX', milliseconds: number, condition: 'NX'): Promise<'OK' | null> {
    return this.send('SET', key, () => this.client.set(key, value, expiry, milliseconds, condition));
  }

  /** Returns the number of removed fields. */
  async hdel(key: string, ...fields: string[]): Promise<number> {
    return this.send('HDEL', key, () => this.client.hdel(key, ...fields));
  }

  async eval(script: string, keyCount: number, ...values: Values): Promise<unknown> {
    return this.send('EVAL', String(values[0]), () => this.client.eval(script, keyCount, ...values));
  }

  async evalsha(digest: string, keyCount: number, ...values: Values): Promise<unknown> {
    return this.send('EVALSHA', String(values[0]), () => this.client.evalsha(digest, keyCount, ...values));
  }

  private async send<Result>(operation: string, key: string, command: () => Promise<Result>): Promise<Result> {
    const call = () => ({ name: operation, attributes: { 'db.system.name': 'redis', 'db.operation.name': operation } });
    return traceCall(call, () => this.breaker.run(key, () => sendNow(this.client, command)));
  }
}

/** A disconnected cluster client would queue the command and send it after its caller gave up. */
export async function sendNow<Result>(client: Redis | Cluster, command: () => Promise<Result>): Promise<Result> {
  if (client.status !== 'ready') throw new Error('Connection is closed.');
  return command();
}

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

/** About sixteen commands. With more, Redis should start working. */
const ENOUGH_BYTES = 4_096;

/**
 * Makes a node send all commands of one turn of the event loop in one write. Under load a system call for each command
 * costs more than the command. A single command waits no longer for that.
 */
export function gatherCommands(node: Redis): void {
  node.sendCommand = (...command) => {
    // Undefined before the first connection.
    const connection = node.stream as Redis['stream'] | undefined;
    if (connection) gather(connection);
    return Redis.prototype.sendCommand.apply(node, command);
  };
}

function gather(connection: Redis['stream']): void {
  if (connection.writableCorked === 0) {
    connection.cork();
    setImmediate(() => connection.uncork());
  } else if (connection.writableLength >= ENOUGH_BYTES) {
    connection.uncork();
    connection.cork();
  }
}
