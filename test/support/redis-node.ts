import { freePort } from './free-port';
import { withRedis } from './redis-connection';
import { RedisProcesses } from './redis-processes';

/** One server of our own, with which a test may do anything. */
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

  /** At the same address, empty. */
  async restart(): Promise<void> {
    await this.kill();
    this.processes.launch(this.port, [`requirepass "${this.password}"`]);
    await this.processes.answering(this.port, this.url);
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

  async flush(): Promise<void> {
    await withRedis(this.url, (redis) => redis.flushall());
  }

  async configure(name: string, value: string): Promise<void> {
    await withRedis(this.url, (redis) => redis.config('SET', name, value));
  }

  /** Makes it a replica of whatever listens there, or not. */
  async follow(host: string, port: number): Promise<void> {
    await withRedis(this.url, (redis) => redis.replicaof(host, port));
  }

  async stop(): Promise<void> {
    await this.processes.stop();
  }
}
