/** @needs redis-server */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { untilRedisAnswers } from './redis-connection';
import { demandProgram } from './programs.cjs';

/** Redis servers that belong together, each known by its port of 127.0.0.1. */
export class RedisProcesses {
  private readonly directory = mkdtempSync(join(tmpdir(), 'compliance-redis-set-'));
  private readonly program = demandProgram('redis-server');
  private readonly servers = new Map<number, ChildProcess>();

  /** Starts a server with these lines of configuration in a file that is its own; again with what it had kept there. */
  launch(port: number, configuration: readonly string[], ...words: readonly string[]): void {
    const directory = join(this.directory, String(port));
    const file = join(directory, 'redis.conf');
    if (!this.servers.has(port)) {
      mkdirSync(directory);
      const usual = [
        `port ${port}`,
        'bind 127.0.0.1',
        'save ""',
        `dir ${directory}`,
        `logfile ${join(directory, 'log')}`,
      ];
      writeFileSync(file, [...usual, ...configuration, ''].join('\n'));
    }
    const server = spawn(this.program, [file, ...words], {
      argv0: 'redis-server',
      cwd: '/',
      detached: true,
      stdio: 'ignore',
    });
    server.on('error', () => undefined);
    server.unref();
    this.servers.set(port, server);
  }

  /** Waits until the server answers at this address of it; throws what it wrote when it ended instead. */
  async answering(port: number, url: string): Promise<void> {
    await untilRedisAnswers(url, 60, () => {
      if (this.servers.get(port)?.exitCode === null) return;
      throw new Error(`${this.program} ended: ${readFileSync(join(this.directory, String(port), 'log'), 'utf8')}`);
    });
  }

  /** As the machine's loss of power. */
  async kill(port: number): Promise<void> {
    const server = this.servers.get(port);
    if (server?.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, 'exit');
    server.ref();
    server.kill('SIGKILL');
    await gone;
  }

  /** Keeps it from answering and leaves its connections open, until `thaw`. */
  freeze(port: number): void {
    this.servers.get(port)?.kill('SIGSTOP');
  }

  thaw(port: number): void {
    this.servers.get(port)?.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    await Promise.all([...this.servers.keys()].map((port) => this.kill(port)));
  }
}
