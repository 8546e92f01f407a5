import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { freePort } from './free-port';
import { untilRedisResponds, withRedis } from './redis-connection';
import { TemporaryRedis } from './temporary-redis.port';
import { Cleanup } from './cleanup.cjs';

const DOCKER_IMAGE = 'redis:7';

const run = promisify(execFile);
const docker = async (...words: readonly string[]): Promise<void> => {
  await run('docker', [...words]);
};

/** A Redis server in a container. */
export class RedisContainer extends TemporaryRedis {
  private constructor(
    readonly url: string,
    private readonly name: string,
    private readonly cleanup: Cleanup,
  ) {
    super();
  }

  static async start(): Promise<RedisContainer> {
    const name = `compliance-redis-${randomBytes(6).toString('hex')}`;
    const password = randomBytes(12).toString('hex');
    const port = await freePort();
    const cleanup = new Cleanup('docker rm --force "$1"', name);
    const redis = new RedisContainer(`redis://:${password}@127.0.0.1:${port}`, name, cleanup);
    const publish = ['--publish', `127.0.0.1:${port}:6379`];
    const server = ['redis-server', '--save', '', '--appendonly', 'no', '--requirepass', password];
    try {
      await docker('run', '--detach', '--name', name, ...publish, DOCKER_IMAGE, ...server);
      await untilRedisResponds(redis.url, 20);
      return redis;
    } catch (error) {
      await redis.stop();
      throw error;
    }
  }

  async flush(): Promise<void> {
    await withRedis(this.url, (redis) => redis.flushall());
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await docker('kill', '--signal', signal, this.name);
    await run('docker', ['wait', this.name]);
  }

  async startAgain(): Promise<void> {
    await docker('start', this.name);
    await untilRedisResponds(this.url, 20);
  }

  async freeze(): Promise<void> {
    await docker('pause', this.name);
  }

  async thaw(): Promise<void> {
    await docker('unpause', this.name);
  }

  async stop(): Promise<void> {
    await this.cleanup.run();
  }
}
