import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { ApiResponse } from '../support/api-client';
import { type TestApp, startApp, startInstance } from '../support/start-app';
import { startTemporaryRedis } from '../support/temporary-redis';
import { type TemporaryRedis } from '../support/temporary-redis.port';

const ASSETS = '/v1/inventory/assets';
/** The specified bursts, with a rate so low that no token is refilled during a test. */
const AT_ONCE = 9;
const SETTINGS = { RATE_LIMIT_TOKEN: '1/10', RATE_LIMIT_READ: '1/100', RATE_LIMIT_WRITE: '1/40' };

describe('Rate limits of three instances with one Redis', () => {
  let instances: TestApp[];
  let shared: TemporaryRedis;
  let workspace: string;
  beforeAll(async () => {
    // Not the shared Redis: a hundred wrong secrets from this machine would block other tests.
    shared = await startTemporaryRedis();
    const settings = { ...SETTINGS, REDIS_URL: shared.url };
    const first = await startApp(settings);
    instances = [first, await startInstance(first, settings), await startInstance(first, settings)];
    workspace = await first.arrange.aWorkspace();
  });
  afterAll(async () => {
    for (const instance of [...instances].reverse()) await instance.stop();
    await shared.stop();
  });

  const first = (): TestApp => instances[0] as TestApp;
  /**
   * Sends requests to all instances, in parallel up to the database connections of a slow machine. Returns how many
   * were not refused.
   */
  const passed = async (
    count: number,
    send: (instance: TestApp, index: number) => Promise<ApiResponse>,
  ): Promise<number> => {
    const responses: ApiResponse[] = [];
    let sent = 0;
    const client = async (): Promise<void> => {
      for (let index = sent; index < count; index = sent) {
        sent += 1;
        responses.push(await send(instances[index % 3] as TestApp, index));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, client));
    expect([...new Set(responses.map(({ status }) => status))].sort()).toEqual([200, 429]);
    return responses.filter(({ status }) => status === 200).length;
  };

  const timesWithoutRedis = (): number =>
    instances.flatMap(({ logLines }) => logLines.filter(({ message }) => String(message).startsWith('Redis is away')))
      .length;
  /** Counts while all instances use Redis. Repeats when a busy machine made one do without for a moment. */
  const withRedis = async (count: () => Promise<number>): Promise<number> => {
    for (let attempt = 1; ; attempt += 1) {
      const before = timesWithoutRedis();
      const counted = await count();
      if (timesWithoutRedis() === before || attempt === 5) return counted;
      await delay(1_500);
    }
  };

  it('allow exactly the burst of reads and of writes, however many arrive at once', async () => {
    const reads = async (): Promise<number> => {
      const token = await first().arrange.aToken(workspace);
      return passed(300, (instance) => instance.client(token).get(`${ASSETS}?pageSize=1`));
    };
    const writes = async (): Promise<number> => {
      const token = await first().arrange.aToken(workspace);
      const { id } = await first().arrange.anAsset(workspace);
      return passed(120, (instance) => instance.client(token).patch(`${ASSETS}/${id}`, {}));
    };
    expect(await withRedis(reads)).toBe(100);
    expect(await withRedis(writes)).toBe(40);
  });

  it('allow exactly the burst of token requests, and one of the tokens is valid', async () => {
    const { clientId, clientSecret } = await first().arrange.anApplication(workspace);
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const tokens: string[] = [];
    const issued = await passed(60, async (instance) => {
      const response = await instance.client().requestToken(form);
      if (response.status === 200) tokens.push(response.body['access_token'] as string);
      return response;
    });
    expect(issued).toBe(10);
    const statuses = await Promise.all(tokens.map(async (token) => (await first().client(token).get(ASSETS)).status));
    expect(statuses.sort()).toEqual([200, ...Array.from({ length: 9 }, () => 401)]);
  });

  it('are kept by each instance alone without failed requests when Redis refuses commands', async () => {
    const { clientId, clientSecret } = await first().arrange.anApplication(workspace);
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const redis = new Redis(shared.url);
    // A value of the wrong type for a client's buckets.
    await redis.set(`client:{${clientId}}`, '', 'EX', 60);
    await redis.quit();
    const issued = await first().client().requestToken(form);
    expect([issued.status, issued.headers.get('X-RateLimit-Limit')]).toEqual([200, '10']);
    const token = issued.body['access_token'] as string;
    expect(await passed(330, (instance) => instance.client(token).get(`${ASSETS}?pageSize=1`))).toBe(300);
  });

  it('never block the owner of a client id, however many wrong secrets others try', async () => {
    const { clientId, clientSecret } = await first().arrange.anApplication(workspace);
    const form = { grant_type: 'client_credentials', client_id: clientId };
    const forge = async (index: number): Promise<number> => {
      const instance = instances[index % 3] as TestApp;
      const response = await instance.client().requestToken({ ...form, client_secret: `cs_${randomUUID()}` });
      return response.status;
    };
    let forging = true;
    const forged: number[] = [];
    const forgers = Array.from({ length: 12 }, async () => {
      while (forging) forged.push(await forge(forged.length));
    });
    for (let request = 0; request < 10; request += 1) {
      const { status } = await (instances[request % 3] as TestApp)
        .client()
        .requestToken({ ...form, client_secret: clientSecret });
      expect([request, status]).toEqual([request, 200]);
    }
    forging = false;
    await Promise.all(forgers);
    expect(forged.length).toBeGreaterThan(10);
    expect(forged.every((status) => status === 401 || status === 429)).toBe(true);
  });
});
