import { closeSync, openSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiUnderWatch } from '../support/api-under-watch';
import { Fifo } from '../support/fifo';
import { type TestDatabase, createTestDatabase } from '../support/test-database';
import { sized, tell } from './sizes';

/** Requests whose log lines exceed the backlog by a fifth; in the long form by twenty times. */
const MORE_THAN_THE_BACKLOG = sized({ short: 10_000, long: 250_000 });
const MORE_THAN_THE_PIPE = 500;
const AT_ONCE = 16;
/** Includes the documented five seconds for load balancers after SIGTERM. */
const SOON_MS = 9_000;
const DROPPED = 'compliance_log_lines_dropped_total';
const RECOVERED = /log lines dropped/;

describe('An instance whose log cannot be written', () => {
  let database: TestDatabase;
  let api: ApiUnderWatch;
  beforeAll(async () => (database = await createTestDatabase()));
  afterAll(async () => database.drop());
  afterEach(async () => api.stop());

  const start = async (output: number, overrides: Record<string, string> = {}): Promise<void> => {
    api = await ApiUnderWatch.start(database, overrides, output);
  };
  /** Sends requests and returns the longest duration in milliseconds. */
  const send = async (count: number): Promise<number> => {
    const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
    let [left, longest] = [count, 0];
    const one = async (): Promise<void> => {
      const since = performance.now();
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const headers = { 'X-Request-Id': `${left}-`.padEnd(100, 'x') };
        request({ port: api.port, path: '/v1/health', agent, headers }, (response) =>
          response.resume().once('end', () => resolve(response.statusCode)),
        )
          .once('error', reject)
          .end();
      });
      expect(status).toBe(200);
      longest = Math.max(longest, performance.now() - since);
    };
    const sender = async (): Promise<void> => {
      while (left-- > 0) await one();
    };
    await Promise.all(Array.from({ length: AT_ONCE }, sender));
    agent.destroy();
    return longest;
  };
  const endedBy = async (signal: NodeJS.Signals): Promise<{ code: number | null; tookMs: number }> => {
    const since = performance.now();
    api.process.signal(signal);
    const code = await Promise.race([api.process.exitCode(), delay(30_000, 'still running' as never, { ref: false })]);
    return { code, tookMs: performance.now() - since };
  };
  const linesOf = (text: string): Record<string, unknown>[] =>
    text
      .slice(0, text.lastIndexOf('\n'))
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const recoveriesIn = (text: string): Record<string, unknown>[] =>
    linesOf(text).filter(({ message }) => RECOVERED.test(String(message)));

  describe('because its reader stalled', () => {
    let pipe: Fifo;
    beforeEach(() => (pipe = new Fifo()));
    afterEach(() => pipe.remove());

    it('responds, and exits on SIGTERM in the usual time even with requests in flight', async () => {
      await start(pipe.writer);
      await send(MORE_THAN_THE_PIPE);
      const slow = request({ port: api.port, path: '/oauth/token', method: 'POST' }).on('error', () => undefined);
      slow.setHeader('Content-Type', 'application/x-www-form-urlencoded').write('grant_type=');
      setTimeout(() => slow.end('client_credentials'), 1_000);
      const { code, tookMs } = await endedBy('SIGTERM');
      expect(code).toBe(0);
      expect(tookMs).toBeLessThan(SOON_MS);
    });

    it('keeps a bounded backlog, counts dropped lines, and logs the number once when the reader continues', async () => {
      await start(pipe.writer);
      await send(500);
      const before = (await api.samples()).get('process_resident_memory_bytes') as number;
      const longestMs = await send(MORE_THAN_THE_BACKLOG);
      const samples = await api.samples();
      const grownMb = ((samples.get('process_resident_memory_bytes') as number) - before) / 1e6;
      const dropped = samples.get(DROPPED) as number;
      tell('stalled reader', { requests: MORE_THAN_THE_BACKLOG, dropped, longestMs, grownMb });
      expect(dropped).toBeGreaterThan(0);
      expect(grownMb).toBeLessThan(100);

      for (const deadline = Date.now() + 30_000; Date.now() < deadline; await delay(10)) {
        pipe.read();
        if (RECOVERED.test(pipe.text)) break;
      }
      await send(10);
      await delay(300);
      pipe.read();

      expect(recoveriesIn(pipe.text)).toMatchObject([{ level: 'warn', dropped }]);
      const requests = linesOf(pipe.text).filter(({ message }) => message === 'request');
      expect(requests.filter(({ route }) => route === '/v1/health')).toHaveLength(
        500 + MORE_THAN_THE_BACKLOG + 10 - dropped,
      );
    });

    it('exits with a failure within seconds after an uncaught error', async () => {
      await start(pipe.writer, { NODE_OPTIONS: `--require ${join(__dirname, '../support/crash-on-signal.cjs')}` });
      await send(MORE_THAN_THE_PIPE);
      const { code, tookMs } = await endedBy('SIGUSR2');
      expect(code).toBe(1);
      expect(tookMs).toBeLessThan(3_000);
    });

    it('responds and exits the same with LOG_FORMAT=pretty', async () => {
      await start(pipe.writer, { LOG_FORMAT: 'pretty', LOG_LEVEL: 'debug' });
      await send(MORE_THAN_THE_PIPE);
      const { code, tookMs } = await endedBy('SIGINT');
      expect(code).toBe(0);
      expect(tookMs).toBeLessThan(3_000);
    });

    it('continues when the reader goes away, and writes to the next one', async () => {
      await start(pipe.writer);
      pipe.leave();
      await send(100);
      await delay(200);
      pipe.comeBack();
      await send(1);
      await delay(300);
      pipe.read();
      expect(linesOf(pipe.text).filter(({ message }) => message === 'request')).not.toHaveLength(0);
      expect(await endedBy('SIGINT')).toMatchObject({ code: 0 });
    });
  });

  it('responds and exits on SIGINT at once when its disk is full', async () => {
    const log = openSync('/dev/full', 'w');
    await start(log);
    closeSync(log);
    await send(500);
    const { code, tookMs } = await endedBy('SIGINT');
    expect(code).toBe(0);
    expect(tookMs).toBeLessThan(3_000);
  });
});
