/** @quiet An instance that waits for Redis for more than 50 ms counts on its own. */
import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import type { Scope } from '#libs/kernel';
import type { ApiResponse, ApiClient } from '../support/api-client';
import { type TestOperator, openOperator } from '../support/operator';
import { SPECIFIED_LIMITS, type TestApp, startApp, startInstance } from '../support/start-app';
import { startTemporaryRedis } from '../support/temporary-redis';
import { type TemporaryRedis } from '../support/temporary-redis.port';

const ASSETS = '/v1/inventory/assets';
const delay = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const limitsOf = ({ headers }: ApiResponse) => [headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')];
const statuses = (responses: readonly ApiResponse[]) => ({
  passed: responses.filter(({ status }) => status !== 429).length,
  limited: responses.filter(({ status }) => status === 429).length,
});

/** Not the shared Redis: limits by this machine's address must not affect other tests. */
let ofThisFile: TemporaryRedis;
beforeAll(async () => {
  ofThisFile = await startTemporaryRedis();
});
afterAll(() => ofThisFile.stop());

describe.each([
  ['with Redis', () => ({ REDIS_URL: ofThisFile.url })],
  ['without Redis', () => ({})],
])('Rate limits, %s', (_, settings: () => Record<string, string>) => {
  let app: TestApp;
  let workspace: string;
  let operator: TestOperator;
  beforeAll(async () => {
    app = await startApp({ ...SPECIFIED_LIMITS, ...settings() });
    workspace = await app.arrange.aWorkspace();
    operator = await openOperator(app);
  });
  afterAll(async () => {
    await operator.close();
    await app.stop();
  });

  const read = (client: ApiClient) => client.get(`${ASSETS}?pageSize=1`);
  const credentials = async () => {
    const { clientId, clientSecret } = await app.arrange.anApplication(workspace);
    return { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
  };
  /** Sends one request more than the bucket holds, all at once. */
  const drain = (client: ApiClient, count: number, send = read) =>
    Promise.all(Array.from({ length: count + 1 }, () => send(client)));

  /** A client whose tokens are not refilled during a test, however slow the machine. */
  const aSlowClient = async (scopes?: readonly Scope[], burst = 100): Promise<ApiClient> => {
    const { clientId, clientSecret } = await app.arrange.anApplication(workspace, scopes);
    const limits = { read: { perMinute: 1, burst }, write: { perMinute: 1, burst: 40 } };
    await operator.applications.setLimits(clientId, limits);
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    return app.client((await app.client().requestToken(form)).body['access_token'] as string);
  };

  it('return the remaining tokens in every authenticated response, starting with a full bucket', async () => {
    const client = await aSlowClient(['inventory:read']);
    expect(limitsOf(await read(client))).toEqual(['100', '99']);
    expect(limitsOf(await client.get('/v1/computers'))).toEqual(['100', '98']);
    expect(limitsOf(await client.get(`${ASSETS}?colour=red`))).toEqual(['100', '97']);
    expect(limitsOf(await client.get(`${ASSETS}/${randomUUID()}`))).toEqual(['100', '96']);
    expect(limitsOf(await client.send('HEAD', ASSETS))).toEqual(['100', '95']);
    const refused = await client.patch(`${ASSETS}/${randomUUID()}`, {});
    expect([refused.status, limitsOf(refused)]).toEqual([403, ['40', '39']]);
    const { headers } = await read(await app.arrange.aClient(workspace));
    expect(headers.get('ratelimit-policy')).toBe('"read";q=100;w=120');
    // One token is refilled in 1.2 seconds.
    expect(headers.get('ratelimit')).toMatch(/^"read";r=99;t=[12]$/);
    expect(headers.get('x-ratelimit-reset')).toBeNull();
  });

  it('allow exactly the burst of reads, then return 429 with Retry-After', async () => {
    const client = await app.arrange.aClient(workspace);
    const since = performance.now();
    const responses = await drain(client, 110);
    const refilled = Math.ceil((performance.now() - since) / 1_200);
    // Refilled tokens allow more requests: one every 1.2 seconds.
    const { passed, limited: refused } = statuses(responses);
    expect(passed + refused).toBe(111);
    expect(passed).toBeGreaterThanOrEqual(100);
    expect(passed).toBeLessThanOrEqual(100 + refilled);
    // Uses the last response: a later request may have taken the token announced by an earlier one.
    let limited = await read(client);
    while (limited.status !== 429) limited = await read(client);
    expect([limited.body['code'], limited.headers.get('content-type')]).toEqual([
      'rate_limited',
      'application/problem+json',
    ]);
    expect(limitsOf(limited)).toEqual(['100', '0']);
    const retryAfter = Number(limited.headers.get('retry-after'));
    expect([1, 2]).toContain(retryAfter);
    await delay(retryAfter * 1_000);
    expect((await read(client)).status).toBe(200);
  });

  it('are judged before the scope, whose refusal takes a token too', async () => {
    const client = await aSlowClient(['inventory:read'], 1);

    const refused = [await client.get('/v1/computers'), await client.get('/v1/computers')];

    expect(refused.map(({ status }) => status)).toEqual([403, 429]);
  });

  it('allow exactly the burst of writes, counting replays and refusals, regardless of reads', async () => {
    const client = await aSlowClient();
    const { id } = await app.arrange.anAsset(workspace);
    const key = { 'Idempotency-Key': randomUUID() };
    await client.patch(`${ASSETS}/${id}`, { description: 'x' }, key);
    const replay = await client.patch(`${ASSETS}/${id}`, { description: 'x' }, key);
    expect([replay.headers.get('idempotent-replayed'), limitsOf(replay)]).toEqual(['true', ['40', '38']]);
    await client.patch(`${ASSETS}/${id}`, 'not json');
    const responses = await drain(client, 37, (one) => one.patch(`${ASSETS}/${id}`, {}));
    expect(statuses(responses)).toEqual({ passed: 37, limited: 1 });
    expect((await read(client)).status).toBe(200);
  });

  it('are separate for each application', async () => {
    const [one, other] = [await app.arrange.aClient(workspace), await app.arrange.aClient(workspace)];
    await drain(one, 100);
    expect(limitsOf(await read(other))).toEqual(['100', '99']);
  });

  it('charge nobody for health, unknown paths, wrong methods and refused tokens', async () => {
    const form = await credentials();
    const superseded = (await app.client().requestToken(form)).body['access_token'] as string;
    const current = (await app.client().requestToken(form)).body['access_token'] as string;
    for (let request = 0; request < 5; request += 1) {
      const response = await read(app.client(superseded));
      expect([response.body['code'], limitsOf(response)]).toEqual(['token_superseded', [null, null]]);
    }
    await operator.applications.setDisabled(form.client_id, true);
    for (let request = 0; request < 5; request += 1) {
      const response = await read(app.client(current));
      expect([response.body['code'], limitsOf(response)]).toEqual(['token_invalid', [null, null]]);
    }
    await operator.applications.setDisabled(form.client_id, false);
    for (const path of ['/v1/health', '/v1/nothing']) {
      expect(limitsOf(await app.client(current).get(path))).toEqual([null, null]);
    }
    expect(limitsOf(await app.client(current).send('DELETE', ASSETS))).toEqual([null, null]);
    expect(limitsOf(await read(app.client(current)))).toEqual(['100', '99']);
  });

  it("follow an application's own limits from the next request on, and their removal", async () => {
    const { clientId, clientSecret } = await app.arrange.anApplication(workspace);
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const client = app.client((await app.client().requestToken(form)).body['access_token'] as string);
    expect(limitsOf(await read(client))).toEqual(['100', '99']);
    await operator.applications.setLimits(clientId, { read: { perMinute: 5, burst: 3 } });
    expect(limitsOf(await read(client))[0]).toBe('3');
    await drain(client, 3);
    expect((await read(client)).status).toBe(429);
    await operator.applications.clearLimits(clientId);
    expect((await read(client)).status).toBe(200);
    await operator.applications.setLimits(clientId, { token: { perMinute: 1, burst: 2 } });
    const issued = await app.client().requestToken(form);
    expect([issued.status, limitsOf(issued)]).toEqual([200, ['2', expect.stringMatching(/^[01]$/)]]);
  });

  describe('of the token endpoint', () => {
    const WRONG = `cs_${'A'.repeat(49)}`;

    it('allow the burst, then refuse and leave the last token valid', async () => {
      const form = await credentials();
      const tokens: string[] = [];
      for (let request = 0; request < 10; request += 1) {
        const response = await app.client().requestToken(form);
        expect([response.status, limitsOf(response)]).toEqual([200, ['10', String(9 - request)]]);
        tokens.push(response.body['access_token'] as string);
      }
      const limited = await app.client().requestToken(form, { Accept: 'application/json' });
      expect([limited.status, limited.body['code'], limited.body['error']]).toEqual([
        429,
        'rate_limited',
        'temporarily_unavailable',
      ]);
      expect([limitsOf(limited), Number(limited.headers.get('retry-after')) > 0]).toEqual([['10', '0'], true]);
      expect((await read(app.client(tokens.at(-1)))).status).toBe(200);
    });

    it('return headers with every response to a correct secret, even without a token', async () => {
      const form = await credentials();
      const refused = await app.client().requestToken({ ...form, scope: 'inventory:everything' });
      expect([refused.status, refused.body['code'], limitsOf(refused)]).toEqual([400, 'invalid_scope', ['10', '9']]);
      expect(refused.headers.get('ratelimit-policy')).toBe('"token";q=10;w=120');
      const wrong = await app.client().requestToken({ ...form, client_secret: WRONG });
      expect([wrong.status, limitsOf(wrong)]).toEqual([401, [null, null]]);
      // A row for which no token can be issued.
      const tooHigh = 'UPDATE application SET generation = $2 WHERE client_id = $1';
      await app.arrange.change(workspace, tooHigh, [form.client_id, 2n ** 53n]);
      const failed = await app.client().requestToken(form);
      expect([failed.status, limitsOf(failed)]).toEqual([500, ['10', '8']]);
    });

    it('are not charged for a disabled application with the right secret', async () => {
      const form = await credentials();
      const setDisabled = (disabled: boolean) =>
        app.arrange.change(workspace, 'UPDATE application SET disabled = $2 WHERE client_id = $1', [
          form.client_id,
          disabled,
        ]);
      await setDisabled(true);
      for (let request = 0; request < 3; request += 1) {
        const refused = await app.client().requestToken(form);
        expect([refused.status, limitsOf(refused)]).toEqual([401, [null, null]]);
      }
      await setDisabled(false);
      expect(limitsOf(await app.client().requestToken(form))).toEqual(['10', '9']);
    });

    it('never refuse a correct secret because of wrong ones, which get 429 in the end', async () => {
      const form = await credentials();
      const guesses = await Promise.all(
        Array.from({ length: 12 }, () => app.client().requestToken({ ...form, client_secret: WRONG })),
      );
      expect(guesses.map(({ status }) => status).sort()).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429]);
      expect((await app.client().requestToken(form)).status).toBe(200);
      const unknown = await Promise.all(
        Array.from({ length: 12 }, () =>
          app.client().requestToken({ ...form, client_id: 'ci_unknown', client_secret: WRONG }),
        ),
      );
      expect(statuses(unknown)).toEqual({ passed: 10, limited: 2 });
    });
  });
});

describe('Failed token requests', () => {
  it("count by the connection's address, or by the one that a trusted proxy forwards", async () => {
    const redis = { REDIS_URL: ofThisFile.url };
    const app = await startApp({ ...SPECIFIED_LIMITS, ...redis, TRUST_PROXY: '127.0.0.1, 10.0.0.0/8' });
    const plain = await startInstance(app, { ...SPECIFIED_LIMITS, ...redis });
    const connection = new Redis(ofThisFile.url);
    try {
      // A network reserved for documentation, random so that runs do not meet in a shared Redis.
      const network = `2001:db8:${Math.floor(Math.random() * 65_535).toString(16)}:${Math.floor(Math.random() * 65_535).toString(16)}`;
      const guess = async (one: TestApp, forwarded: string, clientId: string): Promise<number> => {
        const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: 'wrong' };
        return (await one.client().requestToken(form, { 'X-Forwarded-For': forwarded })).status;
      };
      // On a busy machine a token of the source is refilled between two requests.
      const isLimited = async (forwarded: string): Promise<boolean> => {
        for (let tries = 0; tries < 5; tries += 1) {
          if ((await guess(app, forwarded, `ci_${randomUUID()}`)) === 429) return true;
        }
        return false;
      };
      const outcomes: number[] = [];
      for (let index = 0; index < 110; index += 1) {
        outcomes.push(await guess(app, `${network}::${index + 1}`, `ci_${randomUUID()}`));
      }
      // A /64 network gets a hundred failures, whatever client ids and addresses it uses, and then none.
      expect(outcomes.filter((status) => status === 401).length).toBeGreaterThanOrEqual(100);
      expect(await isLimited(`${network}::1`)).toBe(true);
      expect(await guess(app, '2001:db8:ffff:ffff::1', `ci_${randomUUID()}`)).toBe(401);
      expect(await isLimited(`${network}::1, 10.1.2.3`)).toBe(true);
      // Proxies that append ports are trusted by their addresses, and clients behind them are still distinguished.
      expect(await isLimited(`[${network}::1]:4711, 10.1.2.3:5555`)).toBe(true);
      expect(await guess(app, '203.0.113.9:4711, 10.1.2.3:5555', `ci_${randomUUID()}`)).toBe(401);
      // The number of buckets depends on the sources, not on invented client ids.
      const pairs = async (): Promise<number> => (await connection.keys('client:{failure *')).length;
      const before = await pairs();
      const more: number[] = [];
      for (let index = 0; index < 20; index += 1) more.push(await guess(app, `${network}::1`, `ci_${randomUUID()}`));
      // A refilled token of the source may allow single requests.
      const passed = more.filter((status) => status !== 429).length;
      expect(passed).toBeLessThan(more.length / 2);
      expect((await pairs()) - before).toBeLessThanOrEqual(passed);
      // Without a trusted proxy the header has no effect.
      expect(await guess(plain, `${network}::1`, `ci_${randomUUID()}`)).toBe(401);
    } finally {
      connection.disconnect();
      await plain.stop();
      await app.stop();
    }
  });

  it('count per source and client: another source may still fail with that client', async () => {
    const app = await startApp({ ...SPECIFIED_LIMITS, REDIS_URL: ofThisFile.url, TRUST_PROXY: '127.0.0.1' });
    try {
      const form = { grant_type: 'client_credentials', client_id: `ci_${randomUUID()}`, client_secret: 'wrong' };
      const guess = async (source: string): Promise<number> =>
        (await app.client().requestToken(form, { 'X-Forwarded-For': source })).status;
      const outcomes: number[] = [];
      for (let index = 0; index < 12; index += 1) outcomes.push(await guess('2001:db8:1::1'));
      expect(outcomes.at(-1)).toBe(429);
      expect(await guess('2001:db8:2::1')).toBe(401);
    } finally {
      await app.stop();
    }
  });
});

describe('One of three instances without Redis', () => {
  it('returns the tokens left on this instance: none with 429', async () => {
    // A rate so low that no token is refilled during a test.
    const app = await startApp({ RATE_LIMIT_READ: '1/9', RATE_LIMIT_TOKEN: '1/9', REPLICAS: '3' });
    try {
      const workspace = await app.arrange.aWorkspace();
      const { clientId, clientSecret } = await app.arrange.anApplication(workspace);
      const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
      const issued = await app.client().requestToken(form);
      const policies = [[...limitsOf(issued), issued.headers.get('ratelimit-policy')]];
      const client = app.client(issued.body['access_token'] as string);
      for (let request = 0; request < 4; request += 1) {
        const response = await client.get(ASSETS);
        expect(response.status).toBe(request < 3 ? 200 : 429);
        policies.push([...limitsOf(response), response.headers.get('ratelimit-policy')]);
      }
      const read = '"read";q=9;w=540';
      expect(policies).toEqual([
        ['9', '2', '"token";q=9;w=540'],
        ['9', '2', read],
        ['9', '1', read],
        ['9', '0', read],
        ['9', '0', read],
      ]);
    } finally {
      await app.stop();
    }
  });
});
