import { freePort } from './free-port';
import { withRedis } from './redis-connection';
import { RedisProcesses } from './redis-processes';

const DATABASE = 3;

/** A primary, its replica, and one sentinel that is a majority by itself and fails over within seconds. */
export class RedisSentinels {
  private constructor(
    private readonly ports: { readonly primary: number; readonly replica: number; readonly sentinel: number },
    private readonly processes: RedisProcesses,
    private readonly passwords: { readonly redis: string; readonly sentinel: string },
  ) {}

  static async start(passwords: { readonly redis: string; readonly sentinel: string }): Promise<RedisSentinels> {
    const ports = { primary: await freePort(), replica: await freePort(), sentinel: await freePort() };
    const set = new RedisSentinels(ports, new RedisProcesses(), passwords);
    try {
      await set.launch();
      return set;
    } catch (error) {
      await set.stop();
      throw error;
    }
  }

  get url(): string {
    const [redis, sentinel] = [this.passwords.redis, this.passwords.sentinel].map(encodeURIComponent);
    // The first address has no sentinel.
    const sentinels = `127.0.0.1:1,127.0.0.1:${this.ports.sentinel}`;
    return `redis+sentinel://:${redis}@${sentinels}/primary/${DATABASE}?sentinelPassword=${sentinel}`;
  }

  /** Addresses of the initial primary and of its replica. */
  get nodeUrls(): string[] {
    return [this.ports.primary, this.ports.replica].map((port) => `${this.urlOf(port)}/${DATABASE}`);
  }

  get sentinelUrl(): string {
    return this.urlOf(this.ports.sentinel);
  }

  /** Kills the initial primary. */
  async killPrimary(): Promise<void> {
    await this.processes.kill(this.ports.primary);
  }

  /** Ends every connection to the initial primary. Clients may reconnect at once. */
  async dropConnections(): Promise<void> {
    await withRedis(this.urlOf(this.ports.primary), (redis) => redis.client('KILL', 'TYPE', 'normal'));
  }

  freezePrimary(): void {
    this.processes.freeze(this.ports.primary);
  }

  thawPrimary(): void {
    this.processes.thaw(this.ports.primary);
  }

  async stop(): Promise<void> {
    await this.processes.stop();
  }

  private async launch(): Promise<void> {
    const { primary, replica, sentinel } = this.ports;
    const own = [
      `requirepass "${this.passwords.redis}"`,
      `masterauth "${this.passwords.redis}"`,
      'repl-diskless-sync-delay 0',
    ];
    this.processes.launch(primary, own);
    this.processes.launch(replica, [...own, `replicaof 127.0.0.1 ${primary}`]);
    await this.processes.responding(primary, this.urlOf(primary));
    await this.until(replica, /master_link_status:up/, 'INFO');
    this.processes.launch(
      sentinel,
      [
        ...[`requirepass "${this.passwords.sentinel}"`, `sentinel monitor primary 127.0.0.1 ${primary} 1`],
        ...[`sentinel auth-pass primary "${this.passwords.redis}"`, 'sentinel down-after-milliseconds primary 500'],
        'sentinel failover-timeout primary 5000',
      ],
      '--sentinel',
    );
    // The sentinel only promotes a replica that it knows.
    await this.until(sentinel, /master-link-status,ok/, 'SENTINEL', 'REPLICAS', 'primary');
  }

  private async until(port: number, pattern: RegExp, ...command: [string, ...string[]]): Promise<void> {
    const url = this.urlOf(port);
    await this.processes.responding(port, url);
    for (const deadline = Date.now() + 60_000; ;) {
      const response = String(await withRedis(url, (redis) => redis.call(...command)));
      if (pattern.test(response)) return;
      if (Date.now() > deadline) throw new Error(`The sentinel and its servers do not come together: ${response}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  private urlOf(port: number): string {
    const password = port === this.ports.sentinel ? this.passwords.sentinel : this.passwords.redis;
    return `redis://:${encodeURIComponent(password)}@127.0.0.1:${port}`;
  }
}
