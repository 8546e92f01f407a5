import { Cluster, Command, type Redis } from 'ioredis';
import { gatherCommands } from './gathered-commands';
import type { RedisAddress } from './redis-address';
import { RedisConnection, THE_NODE, connectionOptions, retryDelay, takesWrite } from './redis-connection';
import { hasLostTheOthers, sendsElsewhere } from './redis-fault';

/** Enough to find a key on each of a hundred nodes; all of them take some milliseconds. */
const MOST_KEYS_TRIED = 2_000;

const slotOf = (key: string): number => new Command('get', [key]).getSlot();
const ignore = (): undefined => undefined;

/**
 * Commands wait for the connection to a node that is new or has become a primary, which takes a moment, but never for the
 * cluster: they would be sent when nobody remembers them.
 */
class PromptCluster extends Cluster {
  override sendCommand(...[command, ...others]: Parameters<Cluster['sendCommand']>): unknown {
    // The client asks for the state of the cluster before it is ready.
    if (this.status === 'ready' || command.name === 'cluster') return super.sendCommand(command, ...others);
    command.reject(new Error("Cluster isn't ready"));
    return command.promise;
  }
}

/** A cluster, of which the address names some nodes. Keys go to the node that has their slot. */
export class ClusterConnection extends RedisConnection {
  readonly client: Cluster;
  fault: unknown;
  private closed = false;
  private primaries = new Set<string>();

  constructor(
    address: Extract<RedisAddress, { kind: 'cluster' }>,
    /** Called when slots may have gone to other nodes. */
    moved: () => void,
  ) {
    super();
    this.client = new PromptCluster(
      address.nodes.map((node) => ({ ...node })),
      {
        lazyConnect: true,
        enableOfflineQueue: true,
        maxRedirections: 4,
        // A delay would be longer than anybody waits. Where a node is gone, the others say at the next try who has its slots.
        ...{ retryDelayOnFailover: 0, retryDelayOnClusterDown: 0, retryDelayOnTryAgain: 10 },
        slotsRefreshTimeout: 500,
        clusterRetryStrategy: retryDelay,
        // Names stay names: a certificate is for one, and one that cannot be resolved must not hide the other nodes.
        dnsLookup: (host, callback) => callback(null, host),
        redisOptions: { ...connectionOptions(address.tls, address.credentials), disconnectTimeout: 100 },
      },
    );
    for (const event of ['error', 'node error']) this.client.on(event, (error: unknown) => (this.fault = error));
    this.client.on('+node', (node: Redis) => {
      answerForAsking(node);
      gatherCommands(node);
      node.on('close', () => this.continuity.breakOff(nameOf(node)));
      node.on('ready', () => this.continuity.isThere(nameOf(node)));
    });
    const refreshed = (): void => {
      this.noticePrimaries();
      moved();
    };
    this.client.on('ready', () => {
      this.fault = undefined;
      refreshed();
    });
    this.client.on('refresh', refreshed);
    this.client.on('end', () => this.connectLater());
  }

  /** Connects to every primary, so that the first command to each does not wait for that. */
  async connect(): Promise<void> {
    await this.client.connect();
    await Promise.allSettled(this.client.nodes('master').map((node) => node.ping()));
  }

  disconnect(): void {
    this.closed = true;
    this.client.disconnect();
  }

  nodeOf(key: string): string {
    if (this.client.status !== 'ready') return THE_NODE;
    return this.client.slots[slotOf(key)]?.[0] ?? THE_NODE;
  }

  isNode(node: string): boolean {
    if (this.client.status !== 'ready') return true;
    return this.client.slots.some(([primary = THE_NODE]) => primary === node);
  }

  keysOnEachNode(name: string): string[] {
    const wanted = this.primariesNow();
    const keys: string[] = [];
    for (let number = 0; wanted.size > 0 && number < MOST_KEYS_TRIED; number += 1) {
      const key = `{${name}:${number}}`;
      if (wanted.delete(this.client.slots[slotOf(key)]?.[0] ?? '')) keys.push(key);
    }
    return keys.length === 0 ? [`{${name}}`] : keys;
  }

  async probe(node: string, key: string): Promise<void> {
    if (node === THE_NODE) {
      await takesWrite(this.client, key);
      return;
    }
    if (!this.connectionTo(node)) await this.refreshSlots();
    const connection = this.connectionTo(node);
    if (!connection) throw new Error('Connection is closed.');
    await takesWrite(connection, key).catch((error: unknown) => {
      // It does its work, and the slot is another one's.
      if (sendsElsewhere(error)) return;
      // Without it the others are asked next who has its slots: it may not know that it is none of them any more.
      if (hasLostTheOthers(error)) connection.disconnect();
      throw error;
    });
  }

  /** One that is being made ends by itself, and may need longer than anybody waits. */
  giveUp(node: string): void {
    const connection = this.connectionTo(node);
    if (connection?.status === 'ready') connection.disconnect();
  }

  private connectionTo(node: string): Redis | undefined {
    return this.client.nodes().find((each) => nameOf(each) === node);
  }

  /** Never rejects. */
  private refreshSlots(): Promise<void> {
    return new Promise((resolve) => this.client.refreshSlotsCache(() => resolve()));
  }

  private primariesNow(): Set<string> {
    return new Set(this.client.slots.flatMap(([primary]) => primary ?? []));
  }

  /** Who took over from another one need not know all that the other one knew, and may have been connected to before. */
  private noticePrimaries(): void {
    const [before, now] = [this.primaries, this.primariesNow()];
    this.primaries = now;
    if (before.size === 0) return;
    for (const primary of now) if (!before.has(primary)) this.continuity.beginAnew(primary);
  }

  /** The client gives up only when it is told to; but then it would be for good. */
  private connectLater(): void {
    if (this.closed) return;
    setTimeout(() => {
      if (!this.closed) this.client.connect().catch((error: unknown) => (this.fault = error));
    }, 1_000).unref();
  }
}

/** As the client names the nodes that have slots. */
const nameOf = ({ options }: Redis): string => `${options.host}:${options.port}`;

/** The client sends ASKING and forgets it: were it to fail, nobody would catch that, and the process would end. */
function answerForAsking(node: Redis): void {
  const asking = node.asking.bind(node);
  Object.assign(node, { asking: () => asking().catch(ignore) });
}
