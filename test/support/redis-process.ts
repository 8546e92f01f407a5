import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port';
import { untilRedisResponds, withRedis } from './redis-connection';
import { TemporaryRedis } from './temporary-redis.port';

/** A Redis server as a child process. */
export class RedisProcess extends TemporaryRedis {
  readonly url: string;
  private readonly password = randomBytes(12).toString('hex');
  private server: ChildProcess;

  private constructor(
    private readonly program: string,
    private readonly directory: string,
    private readonly port: number,
  ) {
    super();
    // The password prevents tests from using another server that took the port first.
    this.url = `redis://:${this.password}@127.0.0.1:${port}`;
    this.server = this.launch();
  }

  static async start(program: string): Promise<RedisProcess> {
    const directory = mkdtempSync(join(tmpdir(), 'compliance-redis-'));
    const redis = new RedisProcess(program, directory, await freePort());
    try {
      await redis.responding();
      return redis;
    } catch (error) {
      await redis.stop();
      throw error;
    }
  }

  async flush(): Promise<void> {
    await withRedis(this.url, (redis) => redis.flushall());
  }

  async startAgain(): Promise<void> {
    this.server = this.launch();
    await this.responding();
  }

  async freeze(): Promise<void> {
    this.server.kill('SIGSTOP');
  }

  async thaw(): Promise<void> {
    this.server.kill('SIGCONT');
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const { server } = this;
    if (server.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, 'exit');
    server.ref();
    server.kill(signal);
    await gone;
  }

  async stop(): Promise<void> {
    await this.end('SIGKILL');
  }

  private launch(): ChildProcess {
    const settings = {
      ...{ port: String(this.port), bind: '127.0.0.1', requirepass: this.password },
      ...{ save: '', appendonly: 'no', daemonize: 'no', dir: this.directory, logfile: this.logFile },
    };
    const words = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
    const server = spawn(this.program, words, {
      argv0: 'redis-server',
      cwd: '/',
      detached: true,
      stdio: 'ignore',
    });
    server.on('error', () => undefined);
    server.unref();
    return server;
  }

  private async responding(): Promise<void> {
    const { server } = this;
    await untilRedisResponds(this.url, 60, () => {
      if (server.exitCode !== null) throw new Error(`${this.program} ended: ${readFileSync(this.logFile, 'utf8')}`);
    });
  }

  private get logFile(): string {
    return join(this.directory, 'log');
  }
}
