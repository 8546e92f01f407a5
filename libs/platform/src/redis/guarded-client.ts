import { traceCall } from '../observability/tracing';
import type { Circuit } from './circuit';
import type { RedisClient } from './redis-client';

type Values = readonly (string | number)[];

/** Every command passes the circuit of the node that has its key, so that one node of a cluster can be away alone. */
export class GuardedClient implements RedisClient {
  constructor(
    private readonly client: RedisClient,
    private readonly circuitOf: (key: string) => Circuit,
  ) {}

  async get(key: string): Promise<string | null> {
    return this.send('GET', key, () => this.client.get(key));
  }

  async set(key: string, value: string, expiry: 'PX', milliseconds: number, condition: 'NX'): Promise<'OK' | null> {
    return this.send('SET', key, () => this.client.set(key, value, expiry, milliseconds, condition));
  }

  async del(key: string): Promise<number> {
    return this.send('DEL', key, () => this.client.del(key));
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
    return traceCall(call, () => this.circuitOf(key).run(command));
  }
}
