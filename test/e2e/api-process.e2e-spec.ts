import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { ROUTE_ACCESS } from '#libs/platform/http';
import { loadSettings } from '#libs/platform/config';
import { createApp } from '../../apps/api/src/create-app';
import { HealthController } from '../../libs/platform/src/health/health.controller';
import { ApiClient } from '../support/api-client';
import { ApiProcess } from '../support/api-process';
import { ApiUnderWatch } from '../support/api-under-watch';
import { freePort } from '../support/free-port';
import { TcpProxy } from '../support/tcp-proxy';
import { type TestDatabase, createTestDatabase } from '../support/test-database';
import { until } from '../support/until';
import { someoneWaits } from '../support/waiting-sessions';

describe('The API process', () => {
  let database: TestDatabase;
  let environment: Record<string, string>;
  let port: number;
  let managementPort: number;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    port = await freePort();
    managementPort = await freePort();
    environment = {
      DATABASE_URL: database.databaseUrl,
      LOCAL_DIR: process.env['TEST_LOCAL_DIR'] as string,
      PORT: String(port),
      MANAGEMENT_PORT: String(managementPort),
    };
  });
  afterEach(() => ApiProcess.killAll());

  const client = () => new ApiClient(`http://127.0.0.1:${port}`);
  const management = () => ApiClient.ofManagement(`http://127.0.0.1:${managementPort}`);
  const connected = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  };

  it('warns of several instances without Redis, and has no management port when MANAGEMENT_PORT is 0', async () => {
    const api = new ApiProcess({ ...environment, REPLICAS: '2', MANAGEMENT_PORT: '0' });
    await api.serving();
    expect(api.output).toMatch(/"level":"warn".*"message":"REDIS_URL is not set, but several instances need it"/);
    expect((await client().get('/v1/health')).status).toBe(200);
    await expect(management().get('/livez')).rejects.toThrow();
  });

  it('warns in production of a missing BASE_URL, and says that one instance alone needs no Redis', async () => {
    const keys = join(process.env['TEST_LOCAL_DIR'] as string, 'keys');
    const production = {
      NODE_ENV: 'production',
      SIGNING_KEYS_DIR: join(keys, 'signing'),
      SECRET_PEPPER_FILE: join(keys, 'pepper'),
      AUDIT_KEY_FILE: join(keys, 'audit'),
    };
    const api = new ApiProcess({ ...environment, ...production });
    await api.serving();
    expect(api.output.match(/"level":"warn".*BASE_URL is not set/g)).toHaveLength(1);
    expect(api.output).toMatch(/"level":"info".*"message":"REDIS_URL is not set: run no more than one instance"/);
  });

  describe('management port', () => {
    it('serves liveness, readiness and public keys, but no public route', async () => {
      const api = new ApiProcess(environment);
      await api.serving();
      expect((await management().get('/livez')).body).toEqual({ status: 'ok' });
      expect((await management().get('/readyz')).body).toEqual({
        status: 'ok',
        checks: { postgres: 'ok', migrations: 'ok', redis: 'not configured', process: 'ok' },
      });
      const { keys } = (await management().get('/jwks.json')).body as { keys: Record<string, unknown>[] };
      expect(keys[0]).toMatchObject({ kty: 'RSA', use: 'sig', alg: 'RS256', e: 'AQAB' });
      expect(Object.keys(keys[0] ?? {}).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
      for (const path of ['/', '/v1/health', '/docs', '/oauth/token', '/constructor']) {
        const response = await management().get(path);
        expect([response.status, response.body['code']]).toEqual([404, 'not_found']);
      }
      const posted = await management().send('POST', '/livez');
      expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    });
  });

  describe('start', () => {
    it('reports every invalid setting at once, never prints a value, and creates no keys in production', async () => {
      const localDir = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
      try {
        const api = new ApiProcess({
          DATABASE_URL: 'mysql://user:hunter2@host/db',
          PORT: 'many',
          BASE_URL: 'ftp://x',
          LOCAL_DIR: localDir,
          NODE_ENV: 'production',
        });
        expect(await api.exitCode()).toBe(1);
        for (const name of ['DATABASE_URL', 'PORT', 'BASE_URL']) expect(api.errors).toContain(`- ${name} `);
        for (const name of ['SIGNING_KEYS_DIR', 'SECRET_PEPPER_FILE', 'AUDIT_KEY_FILE']) {
          expect(api.errors).toContain(`- ${name} is required when NODE_ENV=production`);
        }
        expect(api.errors).not.toContain('hunter2');
        expect(readdirSync(localDir)).toEqual([]);
      } finally {
        rmSync(localDir, { recursive: true });
      }
    });

    it('creates the keys in LOCAL_DIR once when several instances start together', async () => {
      const localDir = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
      try {
        const ports = [port, await freePort()];
        const managementPorts = [managementPort, await freePort()];
        const instances = ports.map(
          (own, index) =>
            new ApiProcess({
              ...environment,
              LOCAL_DIR: localDir,
              PORT: String(own),
              MANAGEMENT_PORT: String(managementPorts[index]),
            }),
        );
        await Promise.all(instances.map((instance) => instance.serving()));
        const keys = await Promise.all(
          managementPorts.map((own) => ApiClient.ofManagement(`http://127.0.0.1:${own}`).get('/jwks.json')),
        );
        expect(new Set(keys.map(({ text }) => text)).size).toBe(1);
      } finally {
        await ApiProcess.killAll();
        rmSync(localDir, { recursive: true });
      }
    });

    it('names the port that is already in use', async () => {
      const other = createServer().listen(port, '127.0.0.1');
      await once(other, 'listening');
      const api = new ApiProcess(environment);
      expect(await api.exitCode()).toBe(1);
      expect(api.errors).toBe(`127.0.0.1:${port} is taken; set PORT to another port.\n`);
      other.close();
    });

    it('names MANAGEMENT_HOST when this machine does not have the address', async () => {
      const api = new ApiProcess({ ...environment, MANAGEMENT_HOST: '192.0.2.1' });

      expect(await api.exitCode()).toBe(1);
      expect(api.errors).toMatch(
        /^192\.0\.2\.1:\d+ cannot be used \(EADDRNOTAVAIL\); set MANAGEMENT_HOST to another address\.\n$/,
      );
    });
  });

  describe('readiness', () => {
    it('stays ready while requests hold every connection, and reports a reason when not ready', async () => {
      const api = await ApiUnderWatch.start(database, { DATABASE_POOL_SIZE: '1' });
      const workspace = await api.arrange.aWorkspace();
      const client = await api.arrange.aClient(workspace);
      const { id } = await api.arrange.anAsset(workspace);
      expect((await api.management().get('/readyz')).status).toBe(200);
      expect((await api.samples()).get('compliance_ready')).toBe(1);
      await database.admin.query('BEGIN');
      await database.admin.query('SELECT 1 FROM asset WHERE public_id = $1 FOR UPDATE', [id]);
      const ended: string[] = [];
      const write = client.patch(`/v1/inventory/assets/${id}`, { description: 'x' }).then(() => ended.push('write'));
      await someoneWaits(database);
      const readiness = await api.management().get('/readyz');
      ended.push('readiness');
      expect([readiness.status, ended]).toEqual([200, ['readiness']]);
      await database.admin.query('ROLLBACK');
      await write;

      await database.admin.query('ALTER TABLE migration RENAME TO migration_hidden');
      try {
        expect((await api.management().get('/readyz')).status).toBe(503);
        expect((await api.management().get('/readyz')).status).toBe(503);
        expect((await api.samples()).get('compliance_ready')).toBe(0);
      } finally {
        await database.admin.query('ALTER TABLE migration_hidden RENAME TO migration');
      }
      expect((await api.management().get('/readyz')).status).toBe(200);
      const said = await api.linesSaying(/ready/, 2);
      expect(said.map(({ message }) => message)).toEqual(['not ready', 'ready again']);
      expect(said[0]).toMatchObject({ checks: { postgres: 'ok' }, error: { code: '42P01' } });
    });
  });

  describe('stop', () => {
    it.each(['SIGTERM', 'SIGINT'] as const)('exits 0 on %s during startup, whatever it waits for', async (signal) => {
      const silent = createServer().listen(await freePort(), '127.0.0.1');
      await once(silent, 'listening');
      const url = new URL(database.databaseUrl);
      url.port = String((silent.address() as AddressInfo).port);
      const api = new ApiProcess({ ...environment, DATABASE_URL: url.href });
      await once(silent, 'connection');
      api.signal(signal);
      expect(await api.exitCode()).toBe(0);
      silent.close();
    });

    it('finishes the request in flight on SIGINT, refuses new connections and exits 0', async () => {
      const api = new ApiProcess(environment);
      await api.serving();
      const inFlight = await connected();
      inFlight.write('POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n');
      inFlight.write('Content-Length: 10\r\n\r\n12345');
      const idle = await connected();
      await new Promise((resolve) => setTimeout(resolve, 100));
      api.signal('SIGINT');
      await new Promise((resolve) => setTimeout(resolve, 300));
      await expect(connected()).rejects.toThrow();
      inFlight.write('67890');
      const [response] = (await once(inFlight, 'data')) as [Buffer];
      expect(response.toString()).toMatch(/^HTTP\/1.1 400 /);
      expect(await api.exitCode()).toBe(0);
      expect(api.output).toMatch(/"route":"\/oauth\/token","status":400.*"message":"request"}\n/);
      idle.destroy();
    });

    it('becomes unready on SIGTERM at once, and serves for five more seconds', async () => {
      const api = new ApiProcess(environment);
      await api.serving();
      api.signal('SIGTERM');
      const since = Date.now();
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect((await management().get('/readyz')).status).toBe(503);
      const response = await client().get('/v1/health');
      expect([response.status, response.headers.get('connection')]).toEqual([200, 'close']);
      // A second signal must change nothing.
      api.signal('SIGTERM');
      expect(await api.exitCode()).toBe(0);
      expect(Date.now() - since).toBeGreaterThanOrEqual(4_900);
      expect(api.output.split('"message":"stopping"')).toHaveLength(2);
    });

    it('closes its Postgres connections before it exits', async () => {
      const app = await createApp(loadSettings({ ...environment, LOG_LEVEL: 'error' }));
      const connections = async (): Promise<number> => {
        const { rows } = await database.admin.query<{ n: number }>(
          `SELECT count(*)::integer AS n FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = 'compliance-api'`,
        );
        return rows[0]?.n ?? 0;
      };
      const dataSource = app.get(DataSource);
      await dataSource.query('SELECT 1');
      expect(await connections()).toBeGreaterThan(0);
      await app.close();
      expect(dataSource.isInitialized).toBe(false);
      await until(async () => (await connections()) === 0);
    });

    it('refuses to start while a route declares no access', async () => {
      const access: unknown = Reflect.getMetadata(ROUTE_ACCESS, HealthController);
      Reflect.deleteMetadata(ROUTE_ACCESS, HealthController);
      try {
        const settings = loadSettings({ ...environment, LOG_LEVEL: 'error' });
        await expect(createApp(settings)).rejects.toThrow('No access is declared by HealthController.get.');
      } finally {
        Reflect.defineMetadata(ROUTE_ACCESS, access, HealthController);
      }
    });
  });

  it('returns 503 within seconds when Postgres is lost, stays live, and recovers without a restart', async () => {
    const { hostname, port: databasePort } = new URL(database.databaseUrl);
    const proxy = await TcpProxy.to(hostname, Number(databasePort));
    const through = new URL(database.databaseUrl);
    through.port = String(proxy.port);
    const api = new ApiProcess({ ...environment, DATABASE_URL: through.toString() });
    await api.serving();
    const form = { grant_type: 'client_credentials', client_id: 'ci_x', client_secret: 'cs_x' };
    expect((await client().requestToken(form)).status).toBe(401);
    for (const failure of ['refuse', 'blackhole'] as const) {
      await proxy.set(failure);
      for (let request = 0; request < 2; request += 1) {
        const since = Date.now();
        const response = await client().requestToken(form);
        expect([response.status, response.body['code'], response.headers.get('retry-after')]).toEqual([
          503,
          'service_unavailable',
          '1',
        ]);
        expect(Date.now() - since).toBeLessThan(20_000);
      }
      expect((await client().get('/v1/health')).status).toBe(200);
      expect((await management().get('/readyz')).body).toMatchObject({ checks: { postgres: 'unreachable' } });
      await proxy.set('forward');
      expect((await client().requestToken(form)).status).toBe(401);
      expect((await management().get('/readyz')).status).toBe(200);
    }
    await api.kill();
    await proxy.close();
  });
});
