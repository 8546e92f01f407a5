/** @quiet An instance that waits for Redis for more than 50 ms counts on its own. */
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SERVICE_VERSION } from '#libs/platform/config';
import { ApiUnderWatch } from '../support/api-under-watch';
import { redisOfTheRun } from '../support/redis-of-the-run';
import { TcpProxy } from '../support/tcp-proxy';
import { type TestDatabase, createTestDatabase } from '../support/test-database';

describe('GET /metrics of the management port', () => {
  let database: TestDatabase;
  let redis: TcpProxy;
  let api: ApiUnderWatch;
  let workspace: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    const url = new URL(redisOfTheRun());
    redis = await TcpProxy.to(url.hostname, Number(url.port));
    url.port = String(redis.port);
    api = await ApiUnderWatch.start(database, { REDIS_URL: url.href });
    workspace = await api.arrange.aWorkspace();
  });
  afterAll(async () => {
    await api.stop();
    await redis.close();
    await database.drop();
  });

  /** Returns the increase of metrics during `work`. */
  const growth = async (names: readonly string[], work: () => Promise<unknown>): Promise<number[]> => {
    const before = await api.samples();
    await work();
    const after = await api.samples();
    return names.map((name) => (after.get(name) ?? 0) - (before.get(name) ?? 0));
  };
  const raw = async (text: string): Promise<void> => {
    const socket = connect(api.port, '127.0.0.1');
    socket.end(text).resume();
    await once(socket, 'close');
  };

  it('returns the Prometheus text format, no body for HEAD, and 405 for other methods', async () => {
    const response = await api.management().get('/metrics');
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    expect(response.text).toContain(
      `\ncompliance_build_info{version="${SERVICE_VERSION}",node="${process.versions.node}"} 1\n`,
    );
    expect(response.text).toMatch(/^nodejs_eventloop_lag_p99_seconds \d/m);
    const head = await api.management().send('HEAD', '/metrics');
    expect([head.status, head.text, Number(head.headers.get('content-length')) > 1_000]).toEqual([200, '', true]);
    const posted = await api.management().send('POST', '/metrics');
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('is not on the public port', async () => {
    expect((await api.client().get('/metrics')).status).toBe(404);
  });

  it('counts requests and their time by route template, method, status and problem code', async () => {
    const client = await api.arrange.aClient(workspace);
    const at = (route: string, status: number, code: string) =>
      `http_requests_total{route="${route}",method="GET",status="${status}",code="${code}"}`;
    const grown = await growth(
      [
        at('/v1/inventory/assets/:id', 404, 'not_found'),
        at('/v1/computers', 200, ''),
        at('unmatched', 404, 'not_found'),
        at('/docs/swagger-ui.css', 200, ''),
        at('unmatched', 400, 'validation_failed'),
        'http_requests_total{route="unmatched",method="other",status="400",code="validation_failed"}',
        'http_request_duration_seconds_count{route="/v1/computers",method="GET",status_class="2xx"}',
        'http_request_duration_seconds_bucket{le="10",route="/v1/computers",method="GET",status_class="2xx"}',
      ],
      async () => {
        await client.get(`/v1/inventory/assets/${randomUUID()}`);
        await client.get(`/v1/inventory/assets/${randomUUID()}`);
        await client.get('/v1/computers');
        await client.get('/nowhere');
        await client.get('/docs/swagger-ui.css');
        await raw('GET / HTTP/1.1\r\n\r\n');
        await raw('GET / HTTP/9.9\r\n\r\n');
      },
    );
    expect(grown).toEqual([2, 1, 1, 1, 1, 1, 1, 1]);
    expect(await api.sample('http_requests_in_flight', (value) => value === 0)).toBe(0);
  });

  it('keeps its number of series for any paths, methods and ids', async () => {
    const client = await api.arrange.aClient(workspace);
    const word = () => randomBytes(6).toString('hex');
    const volley = async (strangeMethods: readonly [string, string]): Promise<void> => {
      for (let round = 0; round < 8; round += 1) {
        await client.get(`/${word()}/${word()}`);
        await client.get(`/docs/${word()}.css`);
        await client.get(`/problems/${word()}`);
        await client.get(`/v1/inventory/assets/${word()}`);
        await client.get(`/v1/inventory/assets/${randomUUID()}?${word()}=${word()}`);
        await client.get(`/v1/inventory/assets/${randomUUID()}`);
        await client.patch(`/v1/inventory/assets/${randomUUID()}`, { description: word() });
        await client.patch(`/v1/inventory/assets/${randomUUID()}`, { [word()]: word() });
        await client.send('DELETE', `/v1/inventory/assets/${word()}`);
        await client.send(strangeMethods[round % 2] as string, `/${word()}`);
        await api.client(word()).get('/v1/computers', { headers: { 'X-Request-Id': word() } });
        await api.client().requestToken({ grant_type: word(), client_id: word(), client_secret: word() });
        await api.client().requestToken({
          grant_type: 'client_credentials',
          client_id: `ci_${word()}`,
          client_secret: word(),
        });
        await raw(`${word()} / HTTP/1.1\r\n\r\n`);
      }
    };
    await volley(['PROPFIND', 'MKCOL']);
    // Metrics of the audit appear with the sealer's first look.
    await api.sample('compliance_audit_bytes', (value) => value > 0);
    const names = [...(await api.samples()).keys()].filter((name) => !name.startsWith('nodejs_'));
    await volley(['SEARCH', 'PURGE']);
    const namesAfter = [...(await api.samples()).keys()].filter((name) => !name.startsWith('nodejs_'));
    expect(namesAfter.filter((name) => !names.includes(name))).toEqual([]);
    expect(namesAfter.length).toBeGreaterThan(100);
  });

  it('counts a stream, and leaves its time out: it depends on the client', async () => {
    const client = await api.arrange.aClient(workspace);
    const ok = 'method="GET",status="200",code=""';
    const names = [
      `http_requests_total{route="/v1/inventory/assets",${ok}}`,
      'http_request_duration_seconds_count{route="/v1/inventory/assets",method="GET",status_class="2xx"}',
    ];

    const grown = await growth(names, async () => {
      await client.get('/v1/inventory/assets');
      await client.get('/v1/inventory/assets', { headers: { Accept: 'application/x-ndjson' } });
      await api.sample('compliance_streams_total{outcome="complete"}', (value) => value > 0);
    });

    expect(grown).toEqual([2, 1]);
  });

  it('tells when each work in the background last succeeded, and the sealer last looked, from its start on', async () => {
    const another = await ApiUnderWatch.start(database);
    const recent = (value: number): boolean => Date.now() / 1_000 - value < 300;
    try {
      const samples = await another.samples();
      const works = [...samples.keys()].flatMap(
        (name) => /^compliance_background_last_success_timestamp_seconds\{work="(\w+)"\}$/.exec(name)?.[1] ?? [],
      );
      expect(works.sort()).toEqual([
        ...[
          'AuditSealer',
          'EmptyChangeSets',
          'HistoryRetention',
          'HistoryWork',
          'IdempotencyPurge',
          'ImportWatch',
          'KeyRereading',
        ],
        'TrustedKeyWatch',
      ]);
      const times = [...samples].filter(([name]) => /_(success|look)_timestamp_seconds/.test(name));
      expect(times.filter(([, time]) => !recent(time))).toEqual([]);
      expect(times).toHaveLength(9);
    } finally {
      await another.stop();
    }
  });

  it('counts first writes, replays and conflicts', async () => {
    const client = await api.arrange.aClient(workspace);
    const { id } = await api.arrange.anAsset(workspace);
    const path = `/v1/inventory/assets/${id}`;
    const headers = { 'Idempotency-Key': randomUUID() };
    const names = ['first', 'replay', 'conflict'].map(
      (outcome) => `compliance_idempotency_outcomes_total{outcome="${outcome}"}`,
    );
    const grown = await growth(names, async () => {
      await client.patch(path, { description: 'one' }, headers);
      await client.patch(path, { description: 'one' }, headers);
      await client.patch(path, { description: 'one' }, headers);
      await client.patch(path, { description: 'two' }, headers);
      await client.patch(path, { descriptions: 'invalid' });
    });
    expect(grown).toEqual([1, 2, 1]);
  });

  it('counts token requests by outcome, and limited requests by class', async () => {
    const { clientId, clientSecret } = await api.arrange.anApplication(workspace);
    await database.admin.query(`UPDATE application SET limits = $2 WHERE client_id = $1`, [
      clientId,
      { token: '1/1', read: '1/1', write: '1/1' },
    ]);
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const outcomes = ['issued', 'invalid_client', 'rate_limited', 'invalid_request'].map(
      (outcome) => `compliance_token_requests_total{outcome="${outcome}"}`,
    );
    const denials = ['token', 'read', 'write'].map((name) => `compliance_rate_limit_denials_total{class="${name}"}`);
    const grown = await growth([...outcomes, ...denials], async () => {
      const client = api.client((await api.client().requestToken(form)).body['access_token'] as string);
      await api.client().requestToken({ ...form, client_secret: 'wrong' });
      await api.client().requestToken(form);
      await api.client().requestToken({});
      for (let request = 0; request < 3; request += 1) {
        await client.get('/v1/computers');
        await client.patch(`/v1/inventory/assets/${randomUUID()}`, {});
      }
    });
    expect(grown).toEqual([1, 1, 1, 1, 1, 2, 2]);
  });

  it('shows pool and audit figures', async () => {
    const samples = await api.samples();
    expect(samples.get('compliance_database_pool_size{pool="primary"}')).toBe(10);
    const inUse = samples.get('compliance_database_pool_connections{pool="primary",state="in_use"}') as number;
    const idle = samples.get('compliance_database_pool_connections{pool="primary",state="idle"}') as number;
    expect(inUse + idle).toBeGreaterThanOrEqual(1);
    expect(samples.get('compliance_database_pool_waiting{pool="primary"}')).toBe(0);
    expect(samples.get('compliance_replicas')).toBe(1);
    const looked = await api.sample('compliance_audit_seal_last_look_timestamp_seconds', (value) => value > 0);
    expect(Math.abs(Date.now() / 1_000 - looked)).toBeLessThan(15);
    expect(await api.sample('compliance_audit_unsealed_events', (value) => value === 0)).toBe(0);
    expect(await api.sample('compliance_audit_seal_lag_seconds', (value) => value === 0)).toBe(0);
    // An empty table has one page for each index.
    expect(await api.sample('compliance_audit_bytes', (value) => value > 0)).toBeGreaterThan(8_192);
  });

  it('counts each loss and return of Redis', async () => {
    const client = await api.arrange.aClient(workspace);
    const transitions = ['opened', 'closed'].map((to) => `compliance_redis_circuit_transitions_total{to="${to}"}`);
    const state = async () => {
      const samples = await api.samples();
      return ['ok', 'away'].map((name) => samples.get(`compliance_redis_state{state="${name}"}`));
    };
    const readiness = async () => {
      const { status, body } = await api.management().get('/readyz');
      return [status, (body['checks'] as Record<string, unknown>)['redis']];
    };
    const said = () => api.logLines.filter(({ context }) => context === 'Redis').map(({ message }) => message);
    while ((await state())[0] !== 1) await client.get('/v1/computers');
    const saidBefore = said().length;
    const [opened = 0, closed = 0] = await growth(transitions, async () => {
      await redis.set('refuse');
      for (let request = 0; request < 20; request += 1) await client.get('/v1/computers');
      expect(await state()).toEqual([0, 1]);
      expect(await readiness()).toEqual([200, 'away']);
      expect((await api.samples()).get('compliance_rate_limit_mode{mode="local"}')).toBe(1);
      await redis.set('forward');
      while ((await state())[0] !== 1) await client.get('/v1/computers');
      expect((await api.samples()).get('compliance_rate_limit_mode{mode="redis"}')).toBe(1);
    });
    // On a busy machine Redis may seem away once more, but never at every request.
    expect([1, 2, 3]).toContain(opened);
    expect(closed).toBe(opened);
    // Lines appear a moment after the event.
    for (const deadline = Date.now() + 10_000; said().length < saidBefore + opened + closed;) {
      if (Date.now() > deadline) break;
      await delay(20);
    }
    const lines = said().slice(saidBefore);
    expect(lines).toHaveLength(opened + closed);
    expect(lines.slice(0, 2)).toEqual(['Redis is away', 'Redis is back']);
  });

  it('matches its page in docs: every metric of our own with type and labels, and defaults that alerts use', async () => {
    const { text } = await api.management().get('/metrics');
    const page = readFileSync(join(__dirname, '../../docs/observability.md'), 'utf8');
    const rows = [...page.matchAll(/^\| `([a-z_0-9]+)` +\| (counter|gauge|histogram) +\| ([^|]*)\|/gm)];
    const exposed = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`);
    const told = rows.map(([, name, type]) => `${name} ${type}`);
    const isOwn = (metric: string): boolean => !/^(process|nodejs)_/.test(metric);
    expect(told.filter(isOwn).sort()).toEqual(exposed.filter(isOwn).sort());
    expect(exposed).toEqual(expect.arrayContaining(told));
    for (const [, name = '', , cell = ''] of rows) {
      const documented = [...cell.matchAll(/`(\w+)`/g)].map(([, label]) => label);
      const samples = [...text.matchAll(new RegExp(`^${name}(?:_bucket)?(?:\\{(.*)\\})? [^ ]+$`, 'gm'))];
      for (const [, list = ''] of samples) {
        const labels = [...list.matchAll(/(\w+)="/g)].map(([, label]) => label).filter((label) => label !== 'le');
        expect([name, ...labels]).toEqual([name, ...documented]);
      }
    }
  });
});
