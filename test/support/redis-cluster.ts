import { Command, type Redis } from 'ioredis';
import { withRedis } from './redis-connection';
import { freeClusterPort } from './free-port';
import { RedisProcesses } from './redis-processes';
import { TcpProxy } from './tcp-proxy';

const SLOTS = 16_384;

export interface ClusterNode {
  readonly port: number;
  /** Of this node alone, as if it were the only one. */
  readonly url: string;
  readonly firstSlot: number;
  readonly lastSlot: number;
}

export const slotOf = (key: string): number => new Command('get', [key]).getSlot();

/** The slots that the node is given at first. */
export const slotsOf = ({ firstSlot, lastSlot }: ClusterNode): number[] =>
  Array.from({ length: lastSlot - firstSlot + 1 }, (_, place) => firstSlot + place);

/** Whether the key is in one of them. */
export const isOn = (key: string, { firstSlot, lastSlot }: ClusterNode): boolean =>
  slotOf(key) >= firstSlot && slotOf(key) <= lastSlot;

interface Shape {
  readonly primaries?: number;
  /** How long every byte takes to a client of the cluster, and back, once it is there. */
  readonly farMs?: number;
}

/**
 * Three primaries unless told otherwise, without replicas unless one is added. While one is away the others go on with
 * their own keys.
 */
export class RedisCluster {
  readonly nodes: ClusterNode[] = [];
  private readonly processes = new RedisProcesses();
  /** By the port of a node, what clients reach it by instead. */
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

  /** A fourth process, which takes the slots of this node when that is gone for two seconds. */
  async addReplicaOf(node: ClusterNode): Promise<ClusterNode> {
    const replica = await this.aNode(0, -1);
    await this.launch(replica);
    await this.acquaint(node, replica);
    const id = await this.idOf(node);
    // Only a node that has heard of the other two would be asked by them whether it may take over, and be let.
    const hasHeard = (said: unknown) => String(said).trim().split('\n').length === 4;
    await this.until(replica, (redis) => redis.cluster('NODES'), hasHeard);
    await this.on(replica, (redis) => redis.cluster('REPLICATE', id));
    await this.until(
      replica,
      (redis) => redis.info('replication'),
      (said) => String(said).includes('master_link_status:up'),
    );
    return replica;
  }

  /** Ends every connection to its nodes; whoever had one may make another at once. */
  async dropConnections(): Promise<void> {
    await Promise.all(this.nodes.map((node) => this.on(node, (redis) => redis.client('KILL', 'TYPE', 'normal'))));
  }

  freeze(node: ClusterNode): void {
    this.processes.freeze(node.port);
  }

  thaw(node: ClusterNode): void {
    this.processes.thaw(node.port);
  }

  /** What `work` gives on a connection to one node. */
  async on<Result>(node: ClusterNode, work: (redis: Redis) => Promise<Result>): Promise<Result> {
    return withRedis(node.url, work);
  }

  /** What the nodes call it. */
  async idOf(node: ClusterNode): Promise<string> {
    return this.on(node, async (redis) => String(await redis.cluster('MYID')));
  }

  /** Waits until every node says that the cluster is in order. */
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
    await this.processes.answering(port, url);
  }

  private async prepare(node: ClusterNode): Promise<void> {
    await this.launch(node);
    await this.on(node, async (redis) => {
      await redis.cluster('ADDSLOTS', ...slotsOf(node));
      await redis.cluster('SET-CONFIG-EPOCH', this.nodes.indexOf(node) + 1);
    });
  }

  /** Only when each is prepared: the epoch of a node cannot be set any more once another one has met it. */
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
