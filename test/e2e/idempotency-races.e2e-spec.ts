import { createHash, randomUUID } from 'node:crypto';
import type { ApiResponse, ApiClient } from '../support/api-client';
import { decodeJwt } from '../support/jwt';
import { redisOfTheRun } from '../support/redis-of-the-run';
import { type TestApp, startApp, startInstance } from '../support/start-app';

const path = (id: string): string => `/v1/inventory/assets/${id}`;
const FOR_A_LOCK = `wait_event_type = 'Lock'`;
const delay = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Concurrent duplicates behave the same with and without Redis, on one and on several instances. */
describe.each([
  ['with Redis', () => ({ REDIS_URL: redisOfTheRun() })],
  ['without Redis', () => ({})],
])('Concurrent requests with one Idempotency-Key, %s', (_, settings: () => Record<string, string>) => {
  let instances: TestApp[];
  let workspace: string;
  let token: string;
  let client: ApiClient;
  beforeAll(async () => {
    const first = await startApp(settings());
    instances = [first, await startInstance(first, settings()), await startInstance(first, settings())];
    workspace = await first.arrange.aWorkspace();
    token = await first.arrange.aToken(workspace);
    client = first.client(token);
  });
  afterAll(async () => {
    for (const instance of [...instances].reverse()) await instance.stop();
  });

  const first = (): TestApp => instances[0] as TestApp;
  const anAsset = async (): Promise<string> => (await first().arrange.anAsset(workspace)).id;
  const auditRows = async (id: string): Promise<number> =>
    (await first().database.admin.query('SELECT 1 FROM audit_event WHERE asset_id = $1', [id])).rows.length;
  const isReplay = ({ headers }: ApiResponse): boolean => headers.get('idempotent-replayed') === 'true';
  /** Locks the asset's row, like a slow transaction, for a time or until `work` is done. */
  const whileLocked = async <Result>(
    id: string,
    milliseconds: number | 'until done',
    work: () => Promise<Result>,
    meanwhile: () => Promise<unknown> = () => Promise.resolve(),
  ): Promise<Result> => {
    const { admin } = first().database;
    await admin.query('BEGIN');
    await admin.query('SELECT 1 FROM asset WHERE public_id = $1 FOR UPDATE', [id]);
    const result = work();
    await (milliseconds === 'until done' ? result : delay(milliseconds));
    await meanwhile();
    await admin.query('COMMIT');
    return result;
  };
  const sendTo = (targets: readonly TestApp[], count: number, id: string, body: unknown, key: string, headers = {}) =>
    Promise.all(
      Array.from({ length: count }, (__, index) =>
        (targets[index % targets.length] as TestApp)
          .client(token)
          .patch(path(id), body, { 'Idempotency-Key': key, ...headers }),
      ),
    );
  const tally = (responses: readonly ApiResponse[]): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const response of responses) {
      const kind = isReplay(response) ? 'replayed' : String(response.status);
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
    return counts;
  };

  const connectionsInUse = async (condition = 'true'): Promise<number> => {
    const { admin } = first().database;
    // Within a transaction, statistics would stay unchanged.
    await admin.query('SELECT pg_stat_clear_snapshot()');
    const { rows } = await admin.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'compliance-api' AND state <> 'idle' AND ${condition}`,
    );
    return rows[0]?.n ?? 0;
  };

  it.each([
    ['one instance', 1],
    ['three instances', 3],
  ])('apply once on %s, and the others are replays', async (__, count) => {
    for (const slow of [0, 400]) {
      const id = await anAsset();
      const body = { description: `slow ${slow}` };
      const responses = await whileLocked(id, slow, () =>
        sendTo(instances.slice(0, count), 15, id, body, randomUUID()),
      );
      expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(responses[0]?.status).toBe(200);
      expect(responses.filter((response) => !isReplay(response))).toHaveLength(1);
      expect(await auditRows(id)).toBe(1);
      expect((await client.get(path(id))).headers.get('etag')).toBe(responses[0]?.headers.get('etag'));
    }
  });

  it.each([
    ['on the instance that gave the response', 0],
    ['on another one', 1],
  ])('are replayed and refused by the key without waiting for the asset, %s', async (__, index) => {
    const id = await anAsset();
    const key = { 'Idempotency-Key': randomUUID() };
    const original = await client.patch(path(id), { description: 'once' }, key);
    const asked = (instances[index] as TestApp).client(token);
    // The replay comes last, because every instance remembers the key afterwards.
    let done = false;
    let waits = 0;
    const [responses] = await whileLocked(id, 'until done', () =>
      Promise.all([
        (async () => {
          const conflict = await asked.patch(path(id), { description: 'twice' }, key);
          const invalid = await asked.patch(path(id), { description: 7 }, key);
          const replay = await asked.patch(path(id), { description: 'once' }, key);
          return [conflict, invalid, replay];
        })().finally(() => (done = true)),
        // A request that waits for the row does so for two seconds and then still finds the response.
        (async () => {
          for (; !done; await delay(20)) waits += await connectionsInUse(FOR_A_LOCK);
        })(),
      ]),
    );
    expect([waits, ...responses.map(({ status }) => status)]).toEqual([0, 409, 409, 200]);
    expect([responses[2]?.text, isReplay(responses[2] as ApiResponse)]).toEqual([original.text, true]);
  });

  it('let the next one try when the first failed', async () => {
    const key = randomUUID();
    const id = await anAsset();
    const responses = await sendTo(instances, 12, id, { description: 7 }, key);
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 400));
    expect((await client.patch(path(id), { description: 'x' }, { 'Idempotency-Key': key })).status).toBe(200);
  });

  it('never get 412 for the version that one of them changed', async () => {
    const id = await anAsset();
    const ifMatch = { 'If-Match': (await client.get(path(id))).headers.get('etag') as string };
    const responses = await whileLocked(id, 200, () =>
      sendTo(instances, 15, id, { description: 'x' }, randomUUID(), ifMatch),
    );
    expect([tally(responses), await auditRows(id)]).toEqual([{ '200': 1, replayed: 14 }, 1]);
  });

  it('pass from an invalid request to a valid one, on any instance', async () => {
    const id = await anAsset();
    const key = randomUUID();
    const [valid] = await Promise.all([
      sendTo(instances, 6, id, { description: 'x' }, key),
      sendTo(instances, 6, id, { description: 7 }, key),
    ]);
    expect([tally(valid), await auditRows(id)]).toEqual([{ '200': 1, replayed: 5 }, 1]);
  });

  it('get 404 when the asset is deleted while they wait, and leave the key unused', async () => {
    const [id, other] = [await anAsset(), await anAsset()];
    const key = randomUUID();
    const remove = () => first().database.admin.query('UPDATE asset SET visibility = 2 WHERE public_id = $1', [id]);
    const responses = await whileLocked(id, 200, () => sendTo(instances, 12, id, { description: 'x' }, key), remove);
    expect([tally(responses), await auditRows(id)]).toEqual([{ '404': 12 }, 0]);
    expect(tally(await sendTo(instances, 3, other, { description: 'x' }, key))).toEqual({ '200': 1, replayed: 2 });
  });

  it('get the response although the first client has disconnected', async () => {
    const id = await anAsset();
    const key = randomUUID();
    const leaving = new AbortController();
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'Idempotency-Key': key };
    const init = { method: 'PATCH', headers, body: '{"description":"x"}', signal: leaving.signal };
    const responses = await whileLocked(id, 'until done', async () => {
      const gone = fetch(`${first().origin}${path(id)}`, init).catch(() => 'gone');
      while ((await connectionsInUse(FOR_A_LOCK)) === 0) await delay(20);
      leaving.abort();
      await gone;
      return { sent: sendTo(instances, 6, id, { description: 'x' }, key) };
    }).then(({ sent }) => sent);
    expect([tally(responses), await auditRows(id)]).toEqual([{ replayed: 6 }, 1]);
  });

  it('apply one of two different requests and refuse the other with 409', async () => {
    const key = { 'Idempotency-Key': randomUUID() };
    const id = await anAsset();
    const responses = await Promise.all(
      ['a', 'b'].map((description, index) =>
        (instances[index] as TestApp).client(token).patch(path(id), { description }, key),
      ),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await auditRows(id)).toBe(1);
  });

  it.each([
    ['one instance', 1],
    ['three instances', 3],
  ])('40 times for a slow update on %s leave connections to others', async (__, count) => {
    const id = await anAsset();
    // All reads complete before the lock is released that the writes wait for.
    const duplicates = await whileLocked(id, 'until done', async () => {
      const sent = sendTo(instances.slice(0, count), 40, id, { description: 'slow' }, randomUUID());
      const soon = Date.now() + 60_000;
      while ((await connectionsInUse(FOR_A_LOCK)) === 0 && Date.now() < soon) await delay(20);
      await delay(200);
      // Instances also run background queries and poll for the key, so only sessions that wait every time count.
      const looks: { inUse: number; waiting: number }[] = [];
      while (looks.length < 10) {
        looks.push({ inUse: await connectionsInUse(), waiting: await connectionsInUse(FOR_A_LOCK) });
        await delay(40);
      }
      expect(Math.max(...looks.map(({ waiting }) => waiting))).toBe(1);
      expect(Math.min(...looks.map(({ inUse }) => inUse))).toBeLessThanOrEqual(count);
      for (let index = 0; index < 15; index += 1) expect((await client.get(path(id))).status).toBe(200);
      return { sent };
    });
    expect((await duplicates.sent).map(({ status }) => status)).toEqual(Array.from({ length: 40 }, () => 200));
  });

  it('return 409 idempotency_in_progress when the first takes longer than five seconds', async () => {
    const id = await anAsset();
    const key = randomUUID();
    const { rows } = await first().database.admin.query<{ id: string }>(
      'SELECT id FROM application WHERE client_id = $1',
      [decodeJwt(token)['client_id']],
    );
    const keyHash = createHash('sha256').update(key).digest('hex');
    const digest = createHash('sha256').update(`idempotency\n${workspace}\n${rows[0]?.id}\n${keyHash}`).digest();
    const { admin } = first().database;
    await admin.query('BEGIN');
    await admin.query('SELECT pg_advisory_xact_lock($1)', [digest.readBigInt64BE(0).toString()]);
    const since = performance.now();
    const [one, two] = await sendTo(instances, 2, id, { description: 'x' }, key);
    expect(performance.now() - since).toBeLessThan(20_000);
    await admin.query('COMMIT');
    for (const response of [one, two]) {
      expect([response?.status, response?.body['code'], response?.headers.get('retry-after')]).toEqual([
        409,
        'idempotency_in_progress',
        '1',
      ]);
    }
    expect((await client.patch(path(id), { description: 'x' }, { 'Idempotency-Key': key })).status).toBe(200);
  });
});
