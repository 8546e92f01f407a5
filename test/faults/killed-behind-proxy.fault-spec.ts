import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../support/free-port';
import { ProxyProcess, shippedConfiguration } from './proxy-process';
import { MINUTE, sized, tell } from './sizes';

const KILLS = sized({ short: 2, long: 15 });
/** Each has its own persistent connection to the proxy. */
const READERS = 8;
const WRITERS = 8;
const SERVER = join(__dirname, '../support/counted-server.cjs');

describe('Killing instances behind the proxy of compose.yaml one by one', () => {
  let directory: string;
  let received: string;
  let ports: number[];
  let instances: ChildProcess[];
  let proxy: ProxyProcess;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    received = join(directory, 'received');
    ports = [await freePort(), await freePort(), await freePort()];
    instances = ports.map(start);
    const upstreams = ports.map((port) => ({ port, managementPort: port }));
    proxy = await ProxyProcess.start(join(directory, 'haproxy.cfg'), upstreams, shippedConfiguration);
    await proxy.sendsTo(3);
  }, MINUTE);
  afterAll(async () => {
    for (const instance of instances) instance.kill('SIGKILL');
    await proxy.stop();
    rmSync(directory, { recursive: true });
  }, MINUTE);

  const start = (port: number): ChildProcess =>
    spawn(process.execPath, [SERVER, String(port), received], { stdio: ['pipe', 'ignore', 'ignore'] });
  /** Counts the arrivals of each request at instances, by method and path. */
  const arrivals = (): Map<string, number> => {
    const counts = new Map<string, number>();
    const lines = existsSync(received) ? readFileSync(received, 'utf8').trimEnd().split('\n') : [];
    for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
    return counts;
  };

  it(
    'fails no read and repeats no write',
    async () => {
      let [sent, over] = [0, false];
      const failures: string[] = [];
      const ask = async (method: string): Promise<void> => {
        while (!over) {
          const path = `/${(sent += 1)}`;
          const answer = await fetch(`${proxy.origin}${path}`, { method }).then(
            async (response) => (await response.text(), response.status),
            (error: unknown) => String((error as Error).cause ?? error),
          );
          if (answer !== 200) failures.push(`${method} ${answer}`);
        }
      };
      const asked = Promise.all([
        ...Array.from({ length: READERS }, () => ask('GET')),
        ...Array.from({ length: WRITERS }, () => ask('PATCH')),
      ]);
      try {
        for (let kill = 0; kill < KILLS; kill += 1) {
          const place = kill % instances.length;
          const instance = instances[place] as ChildProcess;
          const gone = once(instance, 'exit');
          await delay(300);
          instance.kill('SIGKILL');
          await gone;
          await proxy.sendsTo(2);
          instances[place] = start(ports[place] as number);
          await proxy.sendsTo(3);
        }
      } finally {
        over = true;
      }
      await asked;
      const counts = [...arrivals()];
      const twice = counts.filter(([, count]) => count > 1).map(([request]) => request);
      tell('killed behind the proxy', { kills: KILLS, requests: sent, repeated: twice.length });
      expect(failures.filter((failure) => failure.startsWith('GET'))).toEqual([]);
      expect(twice.filter((request) => request.startsWith('PATCH'))).toEqual([]);
      // Proves that some requests were in flight at each kill.
      expect(twice.length).toBeGreaterThan(0);
      expect(failures.length).toBeGreaterThan(0);
    },
    sized({ short: 1, long: 3 }) * MINUTE,
  );
});
