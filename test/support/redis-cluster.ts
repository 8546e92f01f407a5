import { Command, type Redis } from 'ioredis';
import { withRedis } from './redis-connection';
import { freeClusterPort } from './free-port';
import { RedisProcesses } from './redis-processes';
import { TcpProxy } from './tcp-proxy';

const SLOTS = 16_384;

export interface ClusterNode {
  readonly port: number;
  /** Address of this node alone, as if it were no cluster. */
  readonly url: string;
  readonly firstSlot: number;
  readonly lastSlot: number;
}

export const slotOf = (key: string): number => new Command('get', [key]).getSlot();

/** The node's initial slots. */
const slotsOf = ({ firstSlot, lastSlot }: ClusterNode): number[] =>
  Array.from({ length: lastSlot - firstSlot + 1 }, (_, place) => firstSlot + place);

/** Tells whether the key belongs to the node's initial slots. */
export const isOn = (key: string, { firstSlot, lastSlot }: ClusterNode): boolean =>
  slotOf(key) >= firstSlot && slotOf(key) <= lastSlot;

interface Shape {
  readonly primaries?: number;
  /** Delay of every byte to and from clients of the cluster. */
  readonly farMs?: number;
}

/**
 * A cluster of three primaries by default, without replicas until one is added. While one is away the others keep
 * serving their own keys.
 */
export class RedisCluster {
  readonly nodes: ClusterNode[] = [];
  private readonly processes = new RedisProcesses();
  /** Proxies that clients use to reach a node, by its port. */
  private readonly ways = new Map<number, TcpProxy>();

  private constructor(private readonly password: string) {}

  static async start(password: string, { primaries = 3, farMs = 0 }: Shape = {}): Promise<RedisCluster> {
    const cluster = new RedisCluster(password);
    try {
      for (let index = 0; index < primaries; index += 1) {
        const firstOf = (place: number): number => Math.ceil((SLOTS * place) / primaries);
        const node = await cluster.aNode(firstOf(index), firstOf(index + 1) - 1);
        cluster.nodes.push(node);
        if (farMs > 0) cluster.ways.set(node.port, await TcpProxy.to('127.0.0.1', node.port));
      }
      await Promise.all(cluster.nodes.map((node) => cluster.prepare(node)));
      const [first, ...others] = cluster.nodes;
      await cluster.acquaint(first as ClusterNode, ...others);
      await cluster.whole();
      for (const way of cluster.ways.values()) way.slowDown(farMs);
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  get url(): string {
    const hosts = this.nodes.map(({ port }) => `127.0.0.1:${this.ways.get(port)?.port ?? port}`).join(',');
    return `redis+cluster://:${encodeURIComponent(this.password)}@${hosts}`;
  }

  async kill(node: ClusterNode): Promise<void> {
    await this.processes.kill(node.port);
  }

  async restart(node: ClusterNode): Promise<void> {
    await this.launch(node);
  }

  /** Adds a replica that takes over this node's slots two seconds after it dies. */
  async addReplicaOf(node: ClusterNode): Promise<ClusterNode> {
    const replica = await this.aNode(0, -1);
    await this.launch(replica);
    await this.acquaint(node, replica);
    const id = await this.idOf(node);
    // Waits until the replica knows the other primaries: only then can they elect it.
    const hasHeard = (said: unknown) => String(said).trim().split('\n').length === 4;
    await this.until(replica, (redis) => redis.cluster('NODES'), hasHeard);
    await this.on(replica, (redis) => redis.cluster('REPLICATE', id));
    await this.until(
      replica,
      (redis) => redis.info('replication'),
      (said) => String(said).includes('master_link_status:up'),
    );
    // And until they know whose replica it is: before, they refuse it their votes.
    const knowsIt = (said: unknown) => String(said).includes(`slave ${id}`);
    await Promise.all(this.nodes.map((one) => this.until(one, (redis) => redis.cluster('NODES'), knowsIt)));
    return replica;
  }

  /** Ends every connection to the nodes. Clients may reconnect at once. */
  async dropConnections(): Promise<void> {
    await Promise.all(this.nodes.map((node) => this.on(node, (redis) => redis.client('KILL', 'TYPE', 'normal'))));
  }

  freeze(node: ClusterNode): void {
    this.processes.freeze(node.port);
  }

  thaw(node: ClusterNode): void {
    this.processes.thaw(node.port);
  }

  /** Runs `work` on a connection to one node. */
  async on<Result>(node: ClusterNode, work: (redis: Redis) => Promise<Result>): Promise<Result> {
    return withRedis(node.url, work);
  }

  /** Returns the node's id in the cluster. */
  async idOf(node: ClusterNode): Promise<string> {
    return this.on(node, async (redis) => String(await redis.cluster('MYID')));
  }

  /** Waits until every node reports that the cluster is complete. */
  async whole(): Promise<void> {
    const order = ['cluster_state:ok', 'cluster_slots_ok:16384', `cluster_size:${this.nodes.length}`];
    const isWhole = (said: unknown) => order.every((line) => String(said).split('\r\n').includes(line));
    await Promise.all(this.nodes.map((node) => this.until(node, (redis) => redis.cluster('INFO'), isWhole)));
  }

  async stop(): Promise<void> {
    await Promise.all([this.processes.stop(), ...[...this.ways.values()].map((way) => way.close())]);
  }

  private async aNode(firstSlot: number, lastSlot: number): Promise<ClusterNode> {
    const port = await freeClusterPort();
    return { port, url: `redis://:${encodeURIComponent(this.password)}@127.0.0.1:${port}`, firstSlot, lastSlot };
  }

  private async launch({ port, url }: ClusterNode): Promise<void> {
    const way = this.ways.get(port);
    this.processes.launch(port, [
      ...['cluster-enabled yes', 'cluster-node-timeout 2000', 'cluster-require-full-coverage no'],
      ...[`requirepass "${this.password}"`, `masterauth "${this.password}"`, 'appendonly no'],
      'repl-diskless-sync-delay 0',
      ...(way ? [`cluster-announce-port ${way.port}`] : []),
    ]);
    await this.processes.responding(port, url);
  }

  private async prepare(node: ClusterNode): Promise<void> {
    await this.launch(node);
    await this.on(node, async (redis) => {
      await redis.cluster('ADDSLOTS', ...slotsOf(node));
      await redis.cluster('SET-CONFIG-EPOCH', this.nodes.indexOf(node) + 1);
    });
  }

  /** Prepare each node first: its epoch cannot be set once it has met another node. */
  private async acquaint(node: ClusterNode, ...others: readonly ClusterNode[]): Promise<void> {
    await this.on(node, async (redis) => {
      for (const other of others) await redis.cluster('MEET', '127.0.0.1', other.port);
    });
  }

  private async until(
    node: ClusterNode,
    ask: (redis: Redis) => Promise<unknown>,
    isIt: (said: unknown) => boolean,
  ): Promise<void> {
    for (const deadline = Date.now() + 60_000; ;) {
      const said = await this.on(node, ask);
      if (isIt(said)) return;
      if (Date.now() > deadline) throw new Error(`The cluster does not come together: ${String(said)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
