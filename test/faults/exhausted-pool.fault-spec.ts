/** @quiet It measures delays. */
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../support/free-port';
import { ClientApplication, NO_LIMITS, type Outcome, counted } from './client-application';
import { startTemporaryRedis } from '../support/temporary-redis';
import { FaultSetting } from './fault-setting';
import { HeldLock } from './held-lock';
import { MINUTE, RESPONSE_MS, sized, tell } from './sizes';

const POOL = 4;
const REQUESTS = sized({ short: 30, long: 150 });
const ROUNDS = sized({ short: 1, long: 5 });
/** The short form shares its machine with other tests, so all its requests at once may take longer. */
const LATEST_MS = sized({ short: 8_000, long: RESPONSE_MS });
/** For requests without a database: hundreds of times their normal duration. */
const SOON_MS = 1_500;

describe('Requests beyond the connection pool while Postgres is slow', () => {
  let setting: FaultSetting;
  let origin: string;
  let management: string;
  let client: ClientApplication;
  let token: string;
  let assets: string[];
  beforeAll(async () => {
    setting = await FaultSetting.open({ redis: await startTemporaryRedis() });
    const managementPort = await freePort();
    management = `http://127.0.0.1:${managementPort}`;
    await setting.startInstances({ DATABASE_POOL_SIZE: String(POOL), MANAGEMENT_PORT: String(managementPort) });
    origin = setting.origins[0] as string;
    const arrange = await setting.enterWorkspace();
    client = await ClientApplication.arrange(setting, arrange, NO_LIMITS);
    token = await client.token(origin);
    assets = await setting.assets(arrange, 2);
  }, MINUTE);
  afterEach(() => HeldLock.releaseAll());
  afterAll(() => setting.close(), MINUTE);

  const many = (request: () => Promise<Outcome>): Promise<Outcome>[] => Array.from({ length: REQUESTS }, request);

  it(
    'get 503 in time, other requests work as usual, and everything recovers at once',
    async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const lock = await HeldLock.onTable(setting, 'asset');
        let succeeded = false;
        const slow = Promise.all([
          ...many(() => client.read(origin, token)),
          ...many(() => client.write(origin, token, assets[0] as string)),
        ]).finally(() => (succeeded = true));
        const besides: Record<string, number>[] = [];
        while (!succeeded) {
          besides.push(await responsesBesides());
          await delay(50);
        }
        const outcomes = await slow;
        tell('refused', { ...counted(outcomes), latest: Math.round(Math.max(...outcomes.map((o) => o.milliseconds))) });
        expect(new Set(outcomes.map(({ word }) => word))).toEqual(new Set(['service_unavailable']));
        expect(outcomes.filter(({ retryAfterSeconds }) => (retryAfterSeconds ?? 0) < 1)).toEqual([]);
        expect(outcomes.filter(({ milliseconds }) => milliseconds > LATEST_MS)).toEqual([]);
        for (const path of Object.keys(besides[0] ?? {})) {
          tell(path, { most: Math.round(Math.max(...besides.map((o) => o[path] ?? 0))) });
          expect([path, besides.filter((times) => (times[path] ?? 0) > SOON_MS)]).toEqual([path, []]);
        }
        await lock.release();
        const { word, accessToken } = await client.issue(origin);
        token = accessToken ?? token;
        const reads = Array.from({ length: POOL }, () => client.read(origin, token));
        const write = client.write(origin, token, assets[0] as string);
        expect(counted([{ word }, ...(await Promise.all([...reads, write]))])).toEqual({ ok: POOL + 2 });
      }
    },
    ROUNDS * MINUTE,
  );

  /** Returns the milliseconds of each request. @throws for an unexpected response */
  async function responsesBesides(): Promise<Record<string, number>> {
    const wanted: [string, number, RequestInit?][] = [
      [`${management}/livez`, 200],
      [`${management}/readyz`, 200],
      [`${management}/metrics`, 200],
      [`${origin}/v1/health`, 200],
      [`${origin}/v1/nowhere`, 404],
      [`${origin}/problems/service_unavailable`, 200],
      [`${origin}/v1/computers`, 401],
      [`${origin}/v1/computers`, 401, { headers: { Authorization: 'Bearer none' } }],
      [`${origin}/oauth/token`, 415, { method: 'POST', body: '{}' }],
    ];
    const times: Record<string, number> = {};
    await Promise.all(
      wanted.map(async ([url, status, init]) => {
        const since = performance.now();
        const response = await fetch(url, init);
        const text = await response.text();
        times[url] = performance.now() - since;
        if (response.status !== status) throw new Error(`${url}: ${response.status} ${text} ${times[url]}`);
      }),
    );
    return times;
  }
});
