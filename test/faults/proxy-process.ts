/** @needs haproxy */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../support/free-port';
import { demandProgram } from '../support/programs.cjs';

const SOON_MS = 60_000;

/** The port of an instance, and its management port. */
export interface Upstream {
  readonly port: number;
  readonly managementPort: number;
}

/**
 * HAProxy in front of several instances, as a process on a free port. It checks readiness and never retries, so a
 * request to a dead instance fails.
 */
export class ProxyProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly origin: string,
    private readonly statisticsUrl: string,
  ) {}

  static async start(
    configurationFile: string,
    upstreams: readonly Upstream[],
    configurationFor = configuration,
  ): Promise<ProxyProcess> {
    const [port, statisticsPort] = [await freePort(), await freePort()];
    writeFileSync(configurationFile, configurationFor(port, statisticsPort, upstreams));
    const child = spawn(demandProgram('haproxy'), ['-db', '-f', configurationFile], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const origin = `http://127.0.0.1:${port}`;
    const proxy = new ProxyProcess(child, origin, `http://127.0.0.1:${statisticsPort}/;csv`);
    for (const deadline = Date.now() + SOON_MS; !(await proxy.responses()); await delay(20)) {
      if (child.exitCode !== null || Date.now() > deadline) throw new Error(`haproxy does not start: ${said}`);
    }
    return proxy;
  }

  /** Resolves once it uses this many instances. */
  async sendsTo(instances: number): Promise<void> {
    for (const deadline = Date.now() + SOON_MS; (await this.servers()).filter(isUp).length !== instances;) {
      if (Date.now() > deadline) throw new Error(`not ${instances} instances: ${JSON.stringify(await this.servers())}`);
      await delay(50);
    }
  }

  /** Number of requests sent to each instance. */
  async requests(): Promise<number[]> {
    return (await this.servers()).map((server) => Number(server['stot']));
  }

  /** Number of requests sent to another instance after a refused connection. */
  async redispatched(): Promise<number> {
    return (await this.servers()).reduce((sum, server) => sum + Number(server['wredis']), 0);
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null) return;
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
  }

  private async responses(): Promise<boolean> {
    return this.servers().then(
      () => true,
      () => false,
    );
  }

  private async servers(): Promise<Record<string, string>[]> {
    const text = await (await fetch(this.statisticsUrl)).text();
    const [head = '', ...lines] = text.replace(/^# /, '').trim().split('\n');
    const names = head.split(',');
    const rows = lines.map((line) => {
      const cells = line.split(',');
      return Object.fromEntries(names.map((name, place) => [name, cells[place] ?? '']));
    });
    return rows.filter((row) => row['svname']?.startsWith('instance'));
  }
}

const isUp = ({ status }: Record<string, string>): boolean => status === 'UP';

/** The part for the console in the shipped configuration. */
export const CONSOLES = /^backend consoles\n(?: .*\n?)+/m;

/** The shipped configuration with other ports and instances. */
export function shippedConfiguration(port: number, statisticsPort: number, upstreams: readonly Upstream[]): string {
  const directory = join(__dirname, '../../docker/haproxy');
  const shipped = readFileSync(join(directory, 'haproxy.cfg'), 'utf8');
  const server = (upstream: Upstream, place: number): string =>
    `  server instance${place} 127.0.0.1:${upstream.port} port ${upstream.managementPort}`;
  return `${shipped
    .replace(/^resolvers .*\n(?: .*\n)+/m, '')
    .replace(/^ +log stdout .*\n/m, '')
    // The console has tests of its own.
    .replace(/^ +(?:bind :3002|use_backend consoles .*)\n/gm, '')
    .replace(CONSOLES, '')
    .replace('default-path config', `default-path origin ${directory}`)
    .replace(/bind :\d+/, `bind 127.0.0.1:${port}`)
    .replace(/ port \d+(.*) resolvers containers init-addr none/, '$1')
    .replace(/^ +server-template .*$/m, upstreams.map(server).join('\n'))}
frontend statistics
  bind 127.0.0.1:${statisticsPort}
  stats enable
  stats uri /
`;
}

function configuration(port: number, statisticsPort: number, upstreams: readonly Upstream[]): string {
  const server = (upstream: Upstream, place: number): string =>
    `  server instance${place} 127.0.0.1:${upstream.port} check port ${upstream.managementPort} inter 500ms fall 2 rise 1`;
  return `
defaults
  mode http
  timeout connect 10s
  timeout check 10s
  timeout client 75s
  timeout server 35s
  timeout http-keep-alive 60s
  timeout check 3s
  retries 0
frontend public
  bind 127.0.0.1:${port}
  default_backend instances
frontend statistics
  bind 127.0.0.1:${statisticsPort}
  stats enable
  stats uri /
backend instances
  balance roundrobin
  option httpchk GET /readyz
  http-check expect status 200
${upstreams.map(server).join('\n')}
`;
}
