import { Redis, type RedisOptions } from 'ioredis';
import { gatherCommands } from './gathered-commands';
import type { RedisAddress, RedisHost } from './redis-address';
import { RedisConnection, THE_NODE, connectionOptions, retryDelay, takesWrite } from './redis-connection';
import { isReadOnly, refusesDatabase, tellsWhy } from './redis-fault';
import { SentinelWatch } from './sentinel-watch';

/** One node, named by the address or by sentinels: then whichever is the primary. */
export class NodeConnection extends RedisConnection {
  readonly client: Redis;
  fault: unknown;
  private closed = false;
  private readonly sentinels: SentinelWatch | null;

  constructor(address: Exclude<RedisAddress, { kind: 'cluster' }>) {
    super();
    this.client = new Redis({
      ...connectionOptions(address.tls, address.credentials),
      ...(address.kind === 'node' ? address.node : sentinelOptions(address)),
      db: address.database,
      lazyConnect: true,
      enableOfflineQueue: false,
      disconnectTimeout: 100,
      // Where only its database is refused a node can be connected to, and the client does not count that as a failure.
      retryStrategy: (attempt) => (refusesDatabase(this.fault) ? 1_000 : retryDelay(attempt)),
      // It was the primary until a failover, and the address leads to another one by now.
      reconnectOnError: isReadOnly,
    });
    gatherCommands(this.client);
    for (const event of ['error', 'sentinelError']) this.client.on(event, (error: unknown) => this.hear(error));
    this.client.on('close', () => this.continuity.breakOff(THE_NODE));
    this.client.on('ready', () => {
      // What it was told before it is ready may have ended the connection.
      if (!this.client.stream.writable) return;
      this.fault = undefined;
      this.continuity.isThere(THE_NODE);
    });
    this.client.on('end', () => this.connectLater());
    this.sentinels = address.kind === 'sentinel' ? new SentinelWatch(address, (primary) => this.moveTo(primary)) : null;
  }

  async connect(): Promise<void> {
    this.sentinels?.start();
    await this.client.connect();
    if (refusesDatabase(this.fault)) throw this.fault;
  }

  disconnect(): void {
    this.closed = true;
    this.sentinels?.stop();
    this.client.disconnect();
  }

  nodeOf(): string {
    return THE_NODE;
  }

  isNode(node: string): boolean {
    return node === THE_NODE;
  }

  keysOnEachNode(name: string): string[] {
    return [`{${name}}`];
  }

  async probe(_node: string, key: string): Promise<void> {
    await takesWrite(this.client, key);
  }

  giveUp(): void {
    this.client.disconnect(true);
  }

  private hear(error: unknown): void {
    if (tellsWhy(error)) this.fault = error;
    if (refusesDatabase(error)) this.client.disconnect(true);
  }

  /** Another sentinel may have led there before, which need not have known it at once. */
  private moveTo({ host, port }: RedisHost): void {
    const { status, stream } = this.client;
    if (status !== 'ready' || (stream.remoteAddress === host && stream.remotePort === port)) return;
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
