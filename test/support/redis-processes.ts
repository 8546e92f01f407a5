/** @needs redis-server */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { untilRedisResponds } from './redis-connection';
import { demandProgram } from './programs.cjs';

/** A group of Redis servers, each identified by its port on 127.0.0.1. */
export class RedisProcesses {
  private readonly directory = mkdtempSync(join(tmpdir(), 'compliance-redis-set-'));
  private readonly program = demandProgram('redis-server');
  private readonly servers = new Map<number, ChildProcess>();

  /** Starts a server with these lines of configuration and its own directory. A second start keeps the data. */
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

  /** Waits until the server responds at this address. @throws its output when it ended */
  async responding(port: number, url: string): Promise<void> {
    await untilRedisResponds(url, 60, () => {
      if (this.servers.get(port)?.exitCode === null) return;
      throw new Error(`${this.program} ended: ${readFileSync(join(this.directory, String(port), 'log'), 'utf8')}`);
    });
  }

  /** Kills the server, like a power failure. */
  async kill(port: number): Promise<void> {
    const server = this.servers.get(port);
    if (server?.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, 'exit');
    server.ref();
    server.kill('SIGKILL');
    await gone;
  }

  /** Suspends the server with its connections open, until `thaw`. */
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
