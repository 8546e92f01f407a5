import { Redis, type RedisOptions } from 'ioredis';
import { gatherCommands } from './gathered-commands';
import type { RedisAddress } from './redis-address';
import { RedisConnection, THE_NODE, connectionOptions, retryDelay } from './redis-connection';
import { isReadOnly } from './redis-fault';

/** One node, named by the address or by sentinels: then whichever is the primary. */
export class NodeConnection extends RedisConnection {
  readonly client: Redis;
  fault: unknown;
  private closed = false;

  constructor(address: Exclude<RedisAddress, { kind: 'cluster' }>) {
    super();
    this.client = new Redis({
      ...connectionOptions(address.tls, address.credentials),
      ...(address.kind === 'node' ? address.node : sentinelOptions(address)),
      db: address.database,
      lazyConnect: true,
      enableOfflineQueue: false,
      disconnectTimeout: 100,
      retryStrategy: retryDelay,
      // It was the primary until a failover, and the address leads to another one by now.
      reconnectOnError: isReadOnly,
    });
    gatherCommands(this.client);
    for (const event of ['error', 'sentinelError']) this.client.on(event, (error: unknown) => (this.fault = error));
    this.client.on('close', () => this.continuity.breakOff(THE_NODE));
    this.client.on('ready', () => {
      this.fault = undefined;
      this.continuity.isThere(THE_NODE);
    });
    this.client.on('end', () => this.connectLater());
  }

  async connect(): Promise<void> {
    await this.client.connect();
  }

  disconnect(): void {
    this.closed = true;
    this.client.disconnect();
  }

  nodeOf(): string {
    return THE_NODE;
  }

  isNode(node: string): boolean {
    return node === THE_NODE;
  }

  keysOnEachNode(name: string): string[] {
    return [name];
  }

  giveUp(): void {
    this.client.disconnect(true);
  }

  /** The client gives up only when it is told to; but then it would be for good. */
  private connectLater(): void {
    if (this.closed) return;
    setTimeout(() => {
      if (!this.closed) this.client.connect().catch((error: unknown) => (this.fault = error));
    }, 1_000).unref();
  }
}

function sentinelOptions(address: Extract<RedisAddress, { kind: 'sentinel' }>): RedisOptions {
  const { user, password } = address.sentinelCredentials;
  return {
    sentinels: address.sentinels.map((sentinel) => ({ ...sentinel })),
    name: address.primary,
    ...(user !== null && { sentinelUsername: user }),
    ...(password !== null && { sentinelPassword: password }),
    sentinelCommandTimeout: 500,
    sentinelRetryStrategy: retryDelay,
    ...(address.tls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
  };
}
