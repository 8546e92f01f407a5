import { spawnSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { ApiResponse } from '../support/api-client';
import { freePort } from '../support/free-port';
import { SERVICE_VERSION } from '#libs/platform/config';
import { ApiUnderWatch } from '../support/api-under-watch';
import { redisOfTheRun } from '../support/redis-of-the-run';
import { type TestDatabase, createTestDatabase } from '../support/test-database';
import { type Span, TraceCollector } from '../support/trace-collector';

const ROOT = join(__dirname, '../..');

describe('Traces', () => {
  let database: TestDatabase;
  let collector: TraceCollector;
  beforeAll(async () => {
    database = await createTestDatabase();
    collector = await TraceCollector.listen();
  });
  afterAll(async () => {
    await collector.close();
    await database.drop();
  });

  describe('after the process has ended', () => {
    let requestedTrace: string;
    let requestedParent: string;
    let workspace: string;
    let clientId: string;
    let assetId: string;
    let update: ApiResponse;
    let failure: ApiResponse;
    const secrets: string[] = [];
    let logLines: Record<string, unknown>[];

    const plant = (): string => {
      const value = randomBytes(8).toString('hex');
      secrets.push(value);
      return value;
    };
    const requestedTraceparent = () => `00-${requestedTrace}-${requestedParent}-01`;
    const requestSpan = (response: ApiResponse): Span => {
      const id = response.headers.get('x-request-id');
      const [span, ...more] = collector.spans.filter(({ attributes }) => attributes['compliance.request_id'] === id);
      if (!span || more.length > 0) throw new Error(`${more.length} more spans of the request`);
      return span;
    };
    const below = ({ spanId }: Span): Span[] => collector.spans.filter((span) => span.parentSpanId === spanId);

    beforeAll(async () => {
      const api = await ApiUnderWatch.start(database, {
        OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.endpoint}/`,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=abc',
        OTEL_SERVICE_NAME: 'inventory-of-the-test',
        REDIS_URL: redisOfTheRun(),
      });
      workspace = await api.arrange.aWorkspace();
      const application = await api.arrange.anApplication(workspace);
      ({ clientId } = application);
      secrets.push(application.clientSecret);
      const issued = await api.client().requestToken({
        grant_type: 'client_credentials',
        client_id: clientId,
        client_secret: application.clientSecret,
      });
      const token = issued.body['access_token'] as string;
      secrets.push(token);
      const client = api.client(token);
      ({ id: assetId } = await api.arrange.anAsset(workspace));
      [requestedTrace, requestedParent] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
      update = await client.patch(
        `/v1/inventory/assets/${assetId}`,
        { description: plant() },
        { traceparent: requestedTraceparent(), 'Idempotency-Key': plant() },
      );
      await client.get(`/v1/inventory/assets/${plant()}?${plant()}=${plant()}`);
      await client.get(`/${plant()}`, { headers: { 'User-Agent': plant(), baggage: `a=${plant()}` } });
      const misplaced = { 'X-Request-Id': application.clientSecret, tracestate: `${plant()}=${plant()}` };
      await client.get('/v1/categories', { headers: { ...misplaced, traceparent: requestedTraceparent() } });
      await database.admin.query(`ALTER TABLE asset ADD CHECK (description <> 'refused')`);
      failure = await client.patch(`/v1/inventory/assets/${assetId}`, { description: 'refused' });
      await client.get(`/v1/inventory/assets/${randomUUID()}`, { headers: { traceparent: plant() } });
      // Uses Redis without a request.
      await api.management().get('/readyz');
      api.process.signal('SIGINT');
      expect(await api.process.exitCode()).toBe(0);
      logLines = api.logLines;
    });

    it('have all reached the collector', () => {
      const serverSpans = collector.spans.filter(({ kind }) => kind === 2);
      expect(serverSpans.map(({ name }) => name).sort()).toEqual(
        [
          ...['GET', 'GET', 'GET /v1/inventory/assets/:id', 'GET /v1/inventory/assets/:id'],
          ...['PATCH /v1/inventory/assets/:id', 'PATCH /v1/inventory/assets/:id', 'POST /oauth/token'],
        ].sort(),
      );
      expect(collector.text).toContain('/v1/traces ');
      expect(collector.text).toContain('"x-collector-key":"abc"');
      expect(serverSpans[0]?.resource).toMatchObject({
        'service.name': 'inventory-of-the-test',
        'service.version': SERVICE_VERSION,
      });
    });

    it("contain one span per request, within the client's trace, with its outcome", () => {
      expect(update.status).toBe(200);
      expect(requestSpan(update)).toMatchObject({
        traceId: requestedTrace,
        parentSpanId: requestedParent,
        name: 'PATCH /v1/inventory/assets/:id',
        kind: 2,
        status: { code: 0 },
        attributes: {
          'http.request.method': 'PATCH',
          'http.route': '/v1/inventory/assets/:id',
          'http.response.status_code': 200,
          'url.path': `/v1/inventory/assets/${assetId}`,
          'url.scheme': 'http',
          'compliance.workspace_id': workspace,
          'compliance.client_id': clientId,
        },
      });
    });

    it('contain a child span for each batch of statements and each Redis command', () => {
      const calls = below(requestSpan(update));
      expect(calls.every(({ kind, traceId }) => kind === 3 && traceId === requestedTrace)).toBe(true);
      const systems = calls.map(({ attributes }) => attributes['db.system.name']);
      expect(systems).toEqual(expect.arrayContaining(['postgresql', 'redis']));
      const names = calls.map(({ name }) => name).join('\n');
      expect(names).toMatch(/idempotency_claim_[0-9a-f]+ asset_lock_/);
      expect(names).toMatch(/idempotency_insert_[0-9a-f]+.* commit/);
      expect(names).toMatch(/^EVALSHA$/m);
    });

    it('mark a server failure with a code and no message', () => {
      expect(failure.status).toBe(500);
      expect(requestSpan(failure)).toMatchObject({
        status: { code: 2 },
        attributes: { 'error.type': 'internal_error', 'http.response.status_code': 500 },
      });
      const failed = below(requestSpan(failure)).filter(({ status }) => status.code === 2);
      expect(failed.map(({ attributes }) => attributes['error.type'])).toEqual(['23514']);
    });

    it('have the trace id of the log lines', () => {
      const lines = logLines.filter(({ requestId }) => requestId === failure.headers.get('x-request-id'));
      expect(lines.map((line) => [line['level'], line['trace_id']])).toEqual([
        ['error', requestSpan(failure).traceId],
        ['info', requestSpan(failure).traceId],
      ]);
    });

    it('contain nothing that clients sent', () => {
      expect(secrets.length).toBeGreaterThan(9);
      expect(secrets.filter((secret) => collector.text.includes(secret))).toEqual([]);
    });

    it('omit background work', () => {
      expect(collector.spans.filter(({ kind, parentSpanId }) => kind === 3 && !parentSpanId)).toEqual([]);
    });
  });

  it('follow OTEL_TRACES_SAMPLER', async () => {
    const api = await ApiUnderWatch.start(database, {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0',
    });
    const before = collector.spans.length;
    for (let request = 0; request < 5; request += 1) await api.client().get('/v1/health');
    api.process.signal('SIGINT');
    expect(await api.process.exitCode()).toBe(0);
    expect(collector.spans.length).toBe(before);
  });

  it('cost one log line without a collector, and delay neither responses nor shutdown', async () => {
    const api = await ApiUnderWatch.start(database, {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
      OTEL_EXPORTER_OTLP_TIMEOUT: '300',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    });
    const warnings = () => api.logLines.filter(({ message }) => String(message).startsWith('traces'));
    for (const deadline = Date.now() + 60_000; warnings().length === 0 && Date.now() < deadline;) {
      expect((await api.client().get('/v1/health')).status).toBe(200);
    }
    for (let round = 0; round < 10; round += 1) {
      await api.client().get('/v1/health');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const since = Date.now();
    api.process.signal('SIGINT');
    expect(await api.process.exitCode()).toBe(0);
    expect(Date.now() - since).toBeLessThan(20_000);
    expect(warnings()).toEqual([
      expect.objectContaining({ level: 'warn', message: 'traces cannot be sent and are dropped' }),
    ]);
    expect(api.process.errors).toBe('');
  });

  it('load no module unless enabled', () => {
    const hook = ['--conditions=source', '-r', join(ROOT, 'test/support/typescript-register.cjs')];
    const loaded = (work: string): string[] => {
      const script = `
        const observability = require('./libs/platform/src/observability/index.ts');
        ${work}
        const names = Object.keys(require.cache).map((path) => /@opentelemetry\\/(?!api\\/)([^/]+)/.exec(path)?.[1]);
        console.log(JSON.stringify([...new Set(names.filter(Boolean))]));
        process.exit(0);`;
      const { stdout, stderr } = spawnSync(process.execPath, [...hook, '-e', script], { cwd: ROOT, encoding: 'utf8' });
      if (stdout === '') throw new Error(stderr);
      return JSON.parse(stdout) as string[];
    };
    expect(loaded('')).toEqual([]);
    expect(loaded(`observability.startTracing('http://127.0.0.1:9', () => {});`)).toContain('sdk-trace-node');
  });
});
