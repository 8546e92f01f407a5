import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../support/free-port';
import { demandProgram } from '../support/programs.cjs';
import { startTemporaryRedis } from '../support/temporary-redis';
import { tally } from './response-faults';
import { FaultSetting } from './fault-setting';
import { type Operation } from './operation-log';
import { ProxyProcess, shippedConfiguration } from './proxy-process';
import { MINUTE, sized, tell } from './sizes';

const PER_SECOND = sized({ short: 60, long: 200 });
const RESTARTS = sized({ short: 1, long: 6 });
const ASSETS = 30;
const EXIT_MS = 30_000;
/** Limits the load on a slow machine: overload is not the subject of the test. */
const MOST_IN_FLIGHT = 24;

describe('Restarting instances behind a proxy one by one', () => {
  let setting: FaultSetting;
  let proxy: ProxyProcess;
  beforeAll(async () => {
    setting = await FaultSetting.open({ redis: await startTemporaryRedis() });
    const managementPorts = [await freePort(), await freePort(), await freePort()];
    const ofInstance = (port: number) => ({ MANAGEMENT_PORT: String(port), REPLICAS: '3' });
    await setting.startInstances(...managementPorts.map(ofInstance));
    const upstreams = setting.origins.map((origin, place) => ({
      port: Number(new URL(origin).port),
      managementPort: managementPorts[place] as number,
    }));
    proxy = await ProxyProcess.start(setting.file('haproxy.cfg'), upstreams);
  });
  afterAll(async () => {
    await proxy.stop();
    await setting.close();
  });

  it(
    'fails no request, repeats no write, and each exits 0 in time',
    async () => {
      const arrange = await setting.enterWorkspace();
      const assets = await setting.assets(arrange, ASSETS);
      await proxy.sendsTo(3);
      const load = new Load(setting, proxy.origin, assets);
      const loaded = load.run();
      const exits: { readonly exitCode: number | null; readonly milliseconds: number }[] = [];
      try {
        await delay(1_000);
        for (let restart = 0; restart < RESTARTS; restart += 1) {
          const instance = setting.instances[restart % setting.instances.length];
          if (!instance) break;
          exits.push(await instance.terminate());
          await proxy.sendsTo(2);
          await instance.startAgain();
          await proxy.sendsTo(3);
          await delay(500);
        }
      } finally {
        load.over = true;
      }
      await loaded;

      const histories = setting.log.read();
      const requests = load.reads + histories.size;
      tell('rolling restart', { requests, seconds: load.seconds, ...tally(histories.values()) });
      tell('exits', { milliseconds: exits.map(({ milliseconds }) => milliseconds).join(' ') });
      expect(load.failures).toEqual([]);
      expect(await setting.faults()).toEqual([]);
      expect(tally(histories.values())).toEqual({ acknowledged: histories.size, replays: 0, refused: 0, lost: 0 });
      expect(exits.map(({ exitCode }) => exitCode)).toEqual(exits.map(() => 0));
      expect(exits.filter(({ milliseconds }) => milliseconds >= EXIT_MS)).toEqual([]);
      // Proves that the load reached every instance.
      expect(requests).toBeGreaterThan(sized({ short: 100, long: load.seconds * PER_SECOND * 0.8 }));
      expect(Math.min(...(await proxy.requests()))).toBeGreaterThan(10);
    },
    sized({ short: 3, long: 5 }) * MINUTE,
  );
});

describe('The proxy of compose.yaml', () => {
  it('accepts its configuration', () => {
    const file = join(__dirname, '../../docker/haproxy/haproxy.cfg');
    const { status, stderr } = spawnSync(demandProgram('haproxy'), ['-c', '-f', file], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  it(
    'sends a request to another instance when the first was killed',
    async () => {
      const ports = [await freePort(), await freePort()];
      const upstreams = ports.map((port) => ({ port, managementPort: port }));
      const instances = ports.map((port) =>
        createServer((_request, response) => response.end()).listen(port, '127.0.0.1'),
      );
      const directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
      const proxy = await ProxyProcess.start(join(directory, 'haproxy.cfg'), upstreams, shippedConfiguration);
      try {
        await proxy.sendsTo(2);
        instances[0]?.close();
        instances[0]?.closeAllConnections();
        const responses = Array.from({ length: 20 }, async () => (await fetch(proxy.origin)).status);
        expect(await Promise.all(responses)).toEqual(Array(20).fill(200));
        // Proves that some requests were sent to the stopped instance.
        expect(await proxy.redispatched()).toBeGreaterThan(0);
      } finally {
        await proxy.stop();
        instances[1]?.close();
        rmSync(directory, { recursive: true });
      }
    },
    MINUTE,
  );
});

/** Sends requests at a fixed rate, two reads for each write. */
class Load {
  over = false;
  reads = 0;
  seconds = 0;
  readonly failures: string[] = [];

  constructor(
    private readonly setting: FaultSetting,
    private readonly origin: string,
    private readonly assets: readonly string[],
  ) {}

  async run(): Promise<void> {
    const client = this.setting.client([this.origin]);
    const inFlight = new Set<Promise<void>>();
    const start = performance.now();
    for (let sent = 0; !this.over; sent += 1) {
      const operation = this.write(sent);
      const request: Promise<void> = (sent % 3 === 0 ? this.send(client, operation) : this.read(sent)).finally(() =>
        inFlight.delete(request),
      );
      inFlight.add(request);
      if (inFlight.size >= MOST_IN_FLIGHT) await Promise.race(inFlight);
      await delay(Math.max(0, start + ((sent + 1) * 1_000) / PER_SECOND - performance.now()));
    }
    this.seconds = Math.round((performance.now() - start) / 1_000);
    await Promise.all(inFlight);
  }

  private write(n: number): Operation {
    const asset = this.assets[n % ASSETS] as string;
    const body = { description: `change ${n}` };
    return { key: randomUUID(), assets: [asset], path: `/v1/inventory/assets/${asset}`, body };
  }

  private async send(client: ReturnType<FaultSetting['client']>, operation: Operation): Promise<void> {
    this.setting.log.sent(operation);
    const attempt = await client.attempt(operation, this.origin);
    if (attempt.kind === 'lost') this.failures.push(`write: ${attempt.reason}`);
    else if (attempt.status !== 200) this.failures.push(`write: ${attempt.status} ${attempt.text}`);
  }

  private async read(n: number): Promise<void> {
    this.reads += 1;
    const path = n % 2 === 0 ? `/v1/inventory/assets/${this.assets[n % ASSETS]}` : '/v1/inventory/assets?pageSize=5';
    try {
      const headers = { Authorization: `Bearer ${this.setting.token}` };
      const answer = await fetch(`${this.origin}${path}`, { headers, signal: AbortSignal.timeout(30_000) });
      const text = await answer.text();
      if (answer.status !== 200) this.failures.push(`read: ${answer.status} ${text}`);
    } catch (error) {
      const { message, cause } = error as Error;
      this.failures.push(`read: ${(cause as { code?: string } | undefined)?.code ?? message}`);
    }
  }
}
