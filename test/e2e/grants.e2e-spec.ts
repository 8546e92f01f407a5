import { Redis } from 'ioredis';
import { clientKey } from '#libs/platform/throttling';
import type { ApiResponse, ApiClient } from '../support/api-client';
import { type TestOperator, openOperator } from '../support/operator';
import { redisOfTheRun } from '../support/redis-of-the-run';
import { type TestApp, startApp, startInstance } from '../support/start-app';
import { TcpProxy } from '../support/tcp-proxy';

const ASSETS = '/v1/inventory/assets';
const delay = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Changes by operators and token requests apply on every instance from the next request on. */
describe('The cached grant on three instances', () => {
  let instances: TestApp[];
  let workspace: string;
  let operator: TestOperator;
  let proxy: TcpProxy;
  let redisUrl: URL;
  beforeAll(async () => {
    const url = new URL(redisOfTheRun());
    proxy = await TcpProxy.to(url.hostname, Number(url.port));
    redisUrl = new URL(url);
    redisUrl.port = String(proxy.port);
    const settings = { REDIS_URL: redisUrl.href };
    const first = await startApp(settings);
    instances = [first, await startInstance(first, settings), await startInstance(first, settings)];
    workspace = await first.arrange.aWorkspace();
    operator = await openOperator(first);
  });
  afterAll(async () => {
    await operator.close();
    for (const instance of [...instances].reverse()) await instance.stop();
    await proxy.close();
  });
  afterEach(() => proxy.set('forward'));

  const first = (): TestApp => instances[0] as TestApp;
  const anApplication = async (scopes?: Parameters<TestApp['arrange']['anApplication']>[1]) => {
    const { clientId, clientSecret } = await first().arrange.anApplication(workspace, scopes);
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const issue = async (from: TestApp = first()): Promise<string> => {
      const response = await from.client().requestToken(form);
      if (response.status !== 200) throw new Error(response.text);
      return response.body['access_token'] as string;
    };
    return { clientId, form, issue };
  };
  const read = (client: ApiClient) => client.get(`${ASSETS}?pageSize=1`);
  /** One response of each instance: status and code. */
  const ofEach = (request: (client: ApiClient) => Promise<ApiResponse>, token?: string) =>
    Promise.all(
      instances.map(async (instance) => {
        const { status, body } = await request(instance.client(token));
        return status === 200 ? 200 : body['code'];
      }),
    );
  const everywhere = (token: string) => ofEach(read, token);
  const tokensFor = (form: Readonly<Record<string, string>>) => ofEach((client) => client.requestToken(form));
  const all = (outcome: unknown) => [outcome, outcome, outcome];

  /** Asks again, because a request does not wait until its grant is cached, and on a busy machine it may not be. */
  const cachedGrant = async (redis: Redis, clientId: string, token: string): Promise<Record<string, string>> => {
    for (;;) {
      const fields = await redis.hgetall(clientKey(clientId));
      if (fields['grant'] !== undefined) return fields;
      await delay(10);
      await read(first().client(token));
    }
  };

  it('follows removed scopes, a disabled application and a rotated secret on the next request', async () => {
    const { clientId, form, issue } = await anApplication();
    const token = await issue();
    expect(await everywhere(token)).toEqual(all(200));
    await operator.applications.setScopes(clientId, ['computers:read']);
    expect(await everywhere(token)).toEqual(all('insufficient_scope'));
    await operator.applications.setScopes(clientId, ['all:read']);
    expect(await everywhere(token)).toEqual(all(200));
    await operator.applications.setScopes(clientId, ['inventory:read']);
    expect(await everywhere(token)).toEqual(all(200));
    expect((await first().client(token).get('/v1/computers')).body['code']).toBe('insufficient_scope');
    await operator.applications.setScopes(clientId, ['all:read']);
    await operator.applications.setDisabled(clientId, true);
    expect(await everywhere(token)).toEqual(all('token_invalid'));
    expect(await tokensFor(form)).toEqual(all('invalid_client'));
    await operator.applications.setDisabled(clientId, false);
    expect(await everywhere(token)).toEqual(all(200));

    const overlapping = await operator.applications.rotateSecret(clientId, 60);
    expect(await everywhere(token)).toEqual(all(200));
    const secrets = [form.client_secret, overlapping?.clientSecret as string];
    for (const secret of secrets) expect(await tokensFor({ ...form, client_secret: secret })).toEqual(all(200));
    const latest = (await first().client().requestToken(form)).body['access_token'] as string;
    await operator.applications.rotateSecret(clientId, null);
    expect(await everywhere(latest)).toEqual(all('token_superseded'));
    for (const secret of secrets) {
      expect(await tokensFor({ ...form, client_secret: secret })).toEqual(all('invalid_client'));
    }
  });

  it('never keeps what was read before a change, whatever Redis lost in between', async () => {
    const { clientId, issue } = await anApplication();
    const redis = new Redis(redisOfTheRun());
    let old = await issue();
    for (let round = 0; round < 15; round += 1) {
      // Readers without a cached grant at the moment of the change.
      await redis.del(clientKey(clientId));
      const readers = Array.from({ length: 6 }, (_, index) => read((instances[index % 3] as TestApp).client(old)));
      const token = await issue();
      await Promise.all(readers);
      expect(await everywhere(old)).toEqual(all('token_superseded'));
      old = token;
    }
    await redis.quit();
  });

  it('trusts stale data after a failover of Redis for at most two seconds, and never again', async () => {
    const { clientId, issue } = await anApplication();
    const redis = new Redis(redisOfTheRun());
    const old = await issue();
    expect(await everywhere(old)).toEqual(all(200));
    const since = Date.now();
    const copy = await cachedGrant(redis, clientId, old);
    await issue();
    // Simulates a failover to a replica of Redis that missed only the change.
    await redis.hset(clientKey(clientId), copy);
    await delay(since + 2_000 - Date.now());
    expect(await everywhere(old)).toEqual(all('token_superseded'));
    await redis.hset(clientKey(clientId), { ...copy, until: String((Date.now() + 60_000) * 1_000) });
    expect(await everywhere(old)).toEqual(all('token_superseded'));
    await redis.quit();
  });

  it.each(['no json', 'null', '{"id":"x"}', 'without its scopes'])(
    'is read from Postgres when the copy is unreadable: %s',
    async (damaged) => {
      const { clientId, issue } = await anApplication();
      const token = await issue();
      expect(await everywhere(token)).toEqual(all(200));
      const redis = new Redis(redisOfTheRun());
      const { grant = '{}' } = await cachedGrant(redis, clientId, token);
      const { scopes, ...others } = JSON.parse(grant) as Record<string, unknown>;
      expect(scopes).toEqual(expect.any(Array));
      const copy = damaged === 'without its scopes' ? JSON.stringify(others) : damaged;
      await redis.hset(clientKey(clientId), { grant: copy });
      expect(await everywhere(token)).toEqual(all(200));
      await redis.quit();
    },
  );

  it.each(['refuse', 'blackhole'] as const)(
    'stays right without failed requests while Redis is away (%s), and a change returns only once in force',
    async (mode) => {
      const { clientId, issue } = await anApplication();
      const old = await issue();
      expect(await everywhere(old)).toEqual(all(200));
      await proxy.set(mode);
      const token = await issue();
      expect(await everywhere(old)).toEqual(all('token_superseded'));
      expect(await everywhere(token)).toEqual(all(200));
      await operator.applications.setDisabled(clientId, true);
      expect(await everywhere(token)).toEqual(all('token_invalid'));
      await proxy.set('forward');
      await operator.applications.setDisabled(clientId, false);
      // The circuit breaker stays open for a second after a failure.
      await delay(1_200);
      expect(await everywhere(token)).toEqual(all(200));
    },
  );
});
