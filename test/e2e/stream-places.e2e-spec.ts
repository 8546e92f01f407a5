/** @quiet An instance that waits for Redis for more than 50 ms has places of its own. */
import { setTimeout as delay } from 'node:timers/promises';
import { StreamTurns } from '../../libs/platform/src/streams/stream-lines';
import { ApiUnderWatch } from '../support/api-under-watch';
import { withRedis } from '../support/redis-connection';
import { type TestApp, startApp, startInstance } from '../support/start-app';
import { StreamReader } from '../support/stream-reader';
import { startTemporaryRedis } from '../support/temporary-redis';
import { type TemporaryRedis } from '../support/temporary-redis.port';

const ASSETS = '/v1/inventory/assets';
const COMPUTERS = '/v1/computers';
/** So few that nothing comes back while a test runs. */
const LIMITS = { RATE_LIMIT_EXPORT: '1/3', RATE_LIMIT_READ: '1/1000' };
/** More than the buffers of a connection take, so that a stream that nobody reads goes on. */
const ENDLESS = { rows: 30_000, descriptionLength: 400 };

describe('The single stream of an application', () => {
  let shared: TemporaryRedis;
  let app: TestApp;
  let other: TestApp;
  let workspace: string;
  let token: string;
  let readers: StreamReader[];

  beforeAll(async () => {
    shared = await startTemporaryRedis();
    const settings = { ...LIMITS, REDIS_URL: shared.url };
    app = await startApp(settings);
    other = await startInstance(app, settings);
    workspace = await app.arrange.aWorkspace();
    await app.arrange.manyAssets(workspace, ENDLESS.rows, ENDLESS.descriptionLength);
  });
  afterAll(async () => {
    await other.stop();
    await app.stop();
    await shared.stop();
  });
  beforeEach(async () => {
    readers = [];
    token = await app.arrange.aToken(workspace);
  });
  afterEach(() => readers.forEach((reader) => reader.leave()));

  /** Asks for a stream and reads no more than its head. */
  const ask = async (origin = app.origin, path = ASSETS, of = token): Promise<StreamReader> => {
    const reader = await StreamReader.open(origin, path, of);
    reader.response.pause();
    readers.push(reader);
    return reader;
  };
  const answer = async (...where: Parameters<typeof ask>): Promise<unknown> => {
    const { response } = await ask(...where);
    if (response.statusCode === 200) return 200;
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return (JSON.parse(Buffer.concat(chunks).toString()) as { code: string }).code;
  };
  /** Milliseconds until the place is free. */
  const untilFree = async (origin = app.origin): Promise<number> => {
    const since = performance.now();
    while ((await answer(origin)) !== 200) {
      if (performance.now() - since > 30_000) throw new Error('The place is never free.');
      await delay(50);
    }
    return performance.now() - since;
  };

  it('is exclusive over all instances and lists', async () => {
    expect(await answer()).toBe(200);

    expect(await answer()).toBe('export_in_progress');
    expect(await answer(app.origin, COMPUTERS)).toBe('export_in_progress');
    expect(await answer(other.origin)).toBe('export_in_progress');
    expect(await answer(other.origin, COMPUTERS)).toBe('export_in_progress');
    expect(await answer(other.origin, ASSETS, await app.arrange.aToken(workspace))).toBe(200);
  });

  it('is taken while its first rows wait for their turn', async () => {
    let goOn = (): void => undefined;
    const turns = jest.spyOn(StreamTurns.prototype, 'take').mockImplementationOnce(async (step) => {
      await new Promise<void>((resolve) => (goOn = resolve));
      return step();
    });
    const first = answer();
    while (turns.mock.calls.length === 0) await delay(5);

    const second = await answer();
    goOn();
    turns.mockRestore();

    expect([await first, second]).toEqual([200, 'export_in_progress']);
  });

  it('may start within five seconds after its client disconnected while its first rows waited', async () => {
    let goOn = (): void => undefined;
    const turns = jest.spyOn(StreamTurns.prototype, 'take').mockImplementationOnce(async (step) => {
      await new Promise<void>((resolve) => (goOn = resolve));
      return step();
    });
    const leaving = new AbortController();
    const headers = { Accept: 'application/x-ndjson', Authorization: `Bearer ${token}` };
    const first = fetch(app.origin + ASSETS, { headers, signal: leaving.signal }).catch(() => 'left');
    while (turns.mock.calls.length === 0) await delay(5);
    leaving.abort();

    try {
      expect(await untilFree()).toBeLessThan(5_000);
    } finally {
      goOn();
      turns.mockRestore();
    }
    await delay(500);
    expect(await first).toBe('left');
    expect(await answer()).toBe('export_in_progress');
  });

  it('starts once for many concurrent requests', async () => {
    const origins = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? app : other).origin);

    const answers = await Promise.all(origins.map((origin) => answer(origin)));

    expect(answers.filter((one) => one === 200)).toHaveLength(1);
    expect(answers.filter((one) => one === 'export_in_progress')).toHaveLength(9);
  });

  it('stays exclusive for longer than one lease', async () => {
    expect(await answer()).toBe(200);
    await delay(6_000);
    expect(await answer(other.origin)).toBe('export_in_progress');
  });

  it('becomes exclusive again after Redis lost its data', async () => {
    expect(await answer()).toBe(200);
    await shared.flush();
    await delay(3_000);
    expect(await answer(other.origin)).toBe('export_in_progress');
  });

  it('may start within five seconds after its client disconnected', async () => {
    expect(await answer()).toBe(200);
    readers[0]?.leave();
    expect(await untilFree(other.origin)).toBeLessThan(5_000);
  });

  it('may start within five seconds after the last one ended', async () => {
    const reader = await ask(app.origin, COMPUTERS);
    reader.response.resume();
    await reader.read();
    expect(await untilFree()).toBeLessThan(5_000);
  });

  it('may start within five seconds after its instance was killed', async () => {
    const instance = await ApiUnderWatch.start(app.database, { REDIS_URL: shared.url, BASE_URL: app.settings.baseUrl });
    expect(await answer(`http://127.0.0.1:${instance.port}`)).toBe(200);
    expect(await answer()).toBe('export_in_progress');

    await instance.process.kill();

    expect(await untilFree()).toBeLessThan(5_000);
  });

  it('may start after its instance was killed and the clock of Redis was set back', async () => {
    const instance = await ApiUnderWatch.start(app.database, { REDIS_URL: shared.url, BASE_URL: app.settings.baseUrl });
    expect(await answer(`http://127.0.0.1:${instance.port}`)).toBe(200);
    await instance.process.kill();

    await withRedis(shared.url, async (redis) => {
      for (const place of await redis.keys('*:export')) await redis.pexpire(place, 3_600_000);
    });

    expect(await answer()).toBe(200);
  });

  it('is exclusive on each instance while Redis is away', async () => {
    await shared.end('SIGKILL');
    try {
      expect(await answer()).toBe(200);
      expect(await answer()).toBe('export_in_progress');
      expect(await answer(other.origin)).toBe(200);
    } finally {
      await shared.startAgain();
    }
  });

  describe('the export bucket', () => {
    const rates = ({ response: { headers } }: StreamReader): unknown[] => [
      headers['x-ratelimit-limit'],
      headers['x-ratelimit-remaining'],
      headers['ratelimit-policy'],
    ];
    const streamOnce = async (path = ASSETS): Promise<StreamReader> => {
      const reader = await ask(app.origin, path);
      reader.leave();
      await ended();
      return reader;
    };
    /** Waits until the instance knows that all its streams have ended. */
    const ended = async (): Promise<void> => {
      const said = (message: string) => app.logLines.filter((line) => line['message'] === message).length;
      for (const deadline = Date.now() + 60_000; Date.now() < deadline; await delay(10)) {
        if (said('stream begun') === said('stream cut') + said('stream complete')) return;
      }
      throw new Error('A stream does not end.');
    };

    it('allows its burst of streams, then refuses with its own headers', async () => {
      const passed = [await streamOnce(), await streamOnce(COMPUTERS), await streamOnce()];
      const refused = await ask();

      expect(passed.map((reader) => [reader.response.statusCode, rates(reader)[1]])).toEqual([
        [200, '999'],
        [200, '998'],
        [200, '997'],
      ]);
      expect(refused.response.statusCode).toBe(429);
      expect(rates(refused)).toEqual(['3', '0', '"read";q=1000;w=60000']);
      expect(Number(refused.response.headers['retry-after'])).toBeGreaterThan(50);
      expect((await app.client(token).get(`${ASSETS}?pageSize=1`)).headers.get('X-RateLimit-Remaining')).toBe('995');
    });

    it('is not charged for a stream that fails before its first line', async () => {
      await app.database.admin.query('ALTER TABLE asset RENAME TO asset_away');
      try {
        expect([await answer(), await answer()]).toEqual(['internal_error', 'internal_error']);
      } finally {
        await app.database.admin.query('ALTER TABLE asset_away RENAME TO asset');
      }

      const passed = [await streamOnce(), await streamOnce(), await streamOnce()];
      expect(passed.map(({ response }) => response.statusCode)).toEqual([200, 200, 200]);
    });

    it('is not charged for a refusal or HEAD', async () => {
      const first = await ask();
      const refused = [await ask(), await ask()];
      first.leave();
      await ended();
      const headers = { Accept: 'application/x-ndjson', Authorization: `Bearer ${token}` };
      await fetch(`${app.origin}${ASSETS}?pageSize=1`, { headers });
      await fetch(app.origin + ASSETS, { method: 'HEAD', headers });

      expect(refused.map(({ response }) => response.statusCode)).toEqual([409, 409]);
      expect(refused.map((reader) => rates(reader)[1])).toEqual(['998', '997']);
      expect(
        [await streamOnce(), await streamOnce(), await streamOnce()].map((one) => one.response.statusCode),
      ).toEqual([200, 200, 429]);
    });
  });
});
