import { freePort } from './free-port';
import { withRedis } from './redis-connection';
import { RedisProcesses } from './redis-processes';

/** A Redis server of the test's own, with which it may do anything. */
export class RedisNode {
  readonly url: string;
  private readonly processes = new RedisProcesses();

  private constructor(
    readonly port: number,
    private readonly password: string,
  ) {
    this.url = `redis://:${encodeURIComponent(password)}@127.0.0.1:${port}/2`;
  }

  static async start(password: string): Promise<RedisNode> {
    const node = new RedisNode(await freePort(), password);
    try {
      await node.restart();
      return node;
    } catch (error) {
      await node.stop();
      throw error;
    }
  }

  /** Restarts it at the same address with the data of {@link remember}, or empty. */
  async restart(): Promise<void> {
    await this.kill();
    this.processes.launch(this.port, [`requirepass "${this.password}"`]);
    await this.processes.responding(this.port, this.url);
  }

  async kill(): Promise<void> {
    await this.processes.kill(this.port);
  }

  freeze(): void {
    this.processes.freeze(this.port);
  }

  thaw(): void {
    this.processes.thaw(this.port);
  }

  /** Saves the current data for {@link restart}. */
  async remember(): Promise<void> {
    await withRedis(this.url, (redis) => redis.save());
  }

  /** Waits until this many connections are open. */
  async connectedTo(connections: number): Promise<void> {
    for (const deadline = Date.now() + 10_000; ;) {
      const others = /^connected_clients:(\d+)/m.exec(await withRedis(this.url, (redis) => redis.info('clients')));
      if (Number(others?.[1]) - 1 >= connections) return;
      if (Date.now() > deadline) throw new Error(`Too few connections: ${others?.[0]}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async flush(): Promise<void> {
    await withRedis(this.url, (redis) => redis.flushall());
  }

  async configure(name: string, value: string): Promise<void> {
    await withRedis(this.url, (redis) => redis.config('SET', name, value));
  }

  /** Ends every connection. Clients may reconnect at once. */
  async dropConnections(): Promise<void> {
    await withRedis(this.url, (redis) => redis.client('KILL', 'TYPE', 'normal'));
  }

  /** Makes it a replica of the server at this address, or a primary. */
  async follow(host: string, port: number): Promise<void> {
    await withRedis(this.url, (redis) => redis.replicaof(host, port));
  }

  async stop(): Promise<void> {
    await this.processes.stop();
  }
}
