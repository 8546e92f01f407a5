/** @quiet On a busy machine Redis answers too late, and a grant comes from Postgres. */
import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import type { ApiResponse, ApiClient } from '../support/api-client';
import { redisOfTheRun } from '../support/redis-of-the-run';
import { RoundTripCounter } from '../support/round-trips';
import { type TestApp, startApp, startInstance } from '../support/start-app';

interface Cost {
  /** Number of waits for Postgres. */
  readonly roundTrips: number;
  readonly statements: number;
  /** Commands sent to Redis, without those inside scripts. */
  readonly commands: number;
}

/**
 * Counts the calls of Postgres and Redis for each request, independently of the machine. Background work or an expired
 * grant may add calls, so the minimum of a few tries is the cost.
 */
describe('The cost of a request', () => {
  let first: TestApp;
  let app: TestApp;
  let counter: RoundTripCounter;
  let redis: Redis;
  let monitor: Redis;
  let commands = 0;
  let client: ApiClient;
  let elsewhere: ApiClient;
  let form: Record<string, string>;
  let ids: string[];
  let workspace: string;
  beforeAll(async () => {
    first = await startApp();
    counter = await RoundTripCounter.before(first.database.databaseUrl);
    const redisUrl = redisOfTheRun();
    app = await startInstance(first, { DATABASE_URL: counter.url, REDIS_URL: redisUrl });
    redis = new Redis(redisUrl);
    workspace = await app.arrange.aWorkspace();
    ids = [];
    for (let count = 0; count < 3; count += 1) {
      ids.push((await app.arrange.anAsset(workspace, { type: 'COMPUTER' })).id);
    }
    const { clientId, clientSecret } = await app.arrange.anApplication(workspace);
    form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const response = await app.client().requestToken(form);
    const token = response.body['access_token'] as string;
    [client, elsewhere] = [app.client(token), first.client(token)];
    monitor = await redis.monitor();
    // Other tests share the server, so only commands about this client count.
    monitor.on('monitor', (_time: string, words: string[], source: string) => {
      if (source !== 'lua' && words.some((word) => word.includes(clientId))) commands += 1;
    });
  });
  afterAll(async () => {
    monitor.disconnect();
    redis.disconnect();
    await app.stop();
    await counter.close();
    await first.stop();
  });

  const costOf = async (send: () => Promise<ApiResponse>): Promise<Cost> => {
    const costs: Cost[] = [];
    for (let tries = 0; tries < 5; tries += 1) {
      const before = commands;
      const conversation = await counter.during(async () => expect((await send()).status).toBe(200));
      // The monitor sees a command a moment after its reply.
      await redis.ping();
      await new Promise((resolve) => setTimeout(resolve, 20));
      costs.push({ ...conversation, commands: commands - before });
    }
    const least = (count: keyof Cost): number => Math.min(...costs.map((cost) => cost[count]));
    return { roundTrips: least('roundTrips'), statements: least('statements'), commands: least('commands') };
  };
  const update = (path: string, body: unknown, key: string = randomUUID()) =>
    client.patch(path, body, { 'Idempotency-Key': key });
  let changes = 0;
  const change = () => ({ description: `change ${(changes += 1)}` });

  // The tenant's setting and the statement.
  const READ = { roundTrips: 1, statements: 2, commands: 1 };
  it.each([
    ['a page of assets', '/v1/inventory/assets?pageSize=2', READ],
    ['a filtered page', '/v1/inventory/assets?categoryKey=COMPUTER&hasOwner=false&classification=UNKNOWN', READ],
    ['an asset', '/v1/inventory/assets/:id', READ],
    ['a page of computers', '/v1/computers', READ],
    ['a computer', '/v1/computers/:id', READ],
    ['the categories', '/v1/inventory/categories', { roundTrips: 0, statements: 0, commands: 1 }],
    ['a page of changes', '/v1/inventory/changes', READ],
    ['a page of tag keys', '/v1/inventory/tag-keys', READ],
    ['its own application', '/v1/me', { roundTrips: 1, statements: 2, commands: 2 }],
    ['a page of audit events', '/v1/audit-events', READ],
    ['a checkpoint', '/v1/audit-events/checkpoint', READ],
    ['the keys of tokens', '/.well-known/jwks.json', { roundTrips: 0, statements: 0, commands: 0 }],
    ['a sign of life', '/v1/health', { roundTrips: 0, statements: 0, commands: 0 }],
  ])('is one statement for %s', async (_, path, expected) => {
    expect(await costOf(() => client.get(path.replace(':id', ids[0] ?? '')))).toEqual(expected);
  });

  it('is two round trips for an update: the lookup, and the writes with the commit', async () => {
    const path = `/v1/inventory/assets/${ids[0] ?? ''}`;
    expect(await costOf(() => update(path, change()))).toEqual({ roundTrips: 2, statements: 11, commands: 1 });
    const bulk = () => update('/v1/inventory/assets', { ids, patch: change() });
    expect(await costOf(bulk)).toEqual({ roundTrips: 2, statements: 11, commands: 1 });
  });

  it('is the lookup and the end of the transaction for a replay, on whichever instance', async () => {
    const path = `/v1/inventory/assets/${ids[1] ?? ''}`;
    const [key, body] = [randomUUID(), change()];
    expect((await elsewhere.patch(path, body, { 'Idempotency-Key': key })).status).toBe(200);
    expect(await costOf(() => update(path, body, key))).toEqual({ roundTrips: 2, statements: 7, commands: 1 });
  });

  it('for a token is the lookup, its bucket, the new generation and the end of the cached grant', async () => {
    expect(await costOf(() => app.client().requestToken(form))).toEqual({ roundTrips: 2, statements: 4, commands: 2 });
  });

  it('for a refused token is the same on Postgres for known and unknown clients', async () => {
    const refused = async (members: Record<string, string>) => {
      const wrong = { ...form, client_secret: randomUUID(), ...members };
      const counts = await counter.during(async () =>
        expect((await app.client().requestToken(wrong)).status).toBe(401),
      );
      return Object.values(counts).join();
    };
    for (const client_id of [form['client_id'] as string, randomUUID(), 'nul\u0000']) {
      const tries = [await refused({ client_id }), await refused({ client_id }), await refused({ client_id })];
      // One round trip with the tenant and the lookup, which returns two rows.
      expect(tries).toContain('1,2,2');
    }
  });
});
