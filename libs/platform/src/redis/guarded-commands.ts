import type { Cluster, Redis } from 'ioredis';
import { traceCall } from '../observability/tracing';
import type { CircuitBreaker } from './circuit-breaker';
import type { RedisCommands } from './redis-commands';

type Values = readonly (string | number)[];

/** Sends every command through the circuit breaker, and fails instead of waiting for a connection. */
export class GuardedCommands implements RedisCommands {
  constructor(
    private readonly client: Redis | Cluster,
    private readonly breaker: CircuitBreaker,
  ) {}

  async set(key: string, value: string, expiry: 'PX', milliseconds: number, condition: 'NX'): Promise<'OK' | null> {
    return this.send('SET', key, () => this.client.set(key, value, expiry, milliseconds, condition));
  }

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
