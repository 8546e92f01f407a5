import type { ApiClient } from '../support/api-client';
import { type DatabaseBehindProxy, openDatabaseBehindProxy } from '../support/database-behind-proxy';
import { redisOfTheRun } from '../support/redis-of-the-run';
import { type TestApp, startAppOn } from '../support/start-app';
import { endWaiting } from '../support/waiting-sessions';

describe('While connections to Postgres are lost, a client', () => {
  let setting: DatabaseBehindProxy;
  let app: TestApp;
  let client: ApiClient;
  let asset: string;
  beforeAll(async () => {
    setting = await openDatabaseBehindProxy();
    // Without Redis, each request also reads its grant from Postgres.
    app = await startAppOn(setting.database, { REDIS_URL: '' });
    const workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace);
    asset = `/v1/inventory/assets/${(await app.arrange.anAsset(workspace)).id}`;
  });
  afterAll(async () => {
    await app.stop();
    await setting.close();
  });

  const statuses = async (): Promise<number[]> => {
    const paths = [asset, '/v1/inventory/assets', '/v1/computers', '/v1/audit-events'];
    return (await Promise.all(paths.map((path) => client.get(path)))).map(({ status }) => status);
  };

  it('reads without an error, whoever ended the connections', async () => {
    for (let round = 0; round < 5; round += 1) {
      expect(await statuses()).toEqual([200, 200, 200, 200]);
      setting.proxy.forget();
      expect(await statuses()).toEqual([200, 200, 200, 200]);
      await setting.database.admin.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND application_name = 'compliance-api'`,
      );
    }
  });

  it('repeats a write without an error, however often the connection is lost with the response', async () => {
    const again = () => client.patch(asset, { description: 'once' }, { 'Idempotency-Key': 'known' });
    const { text } = await again();
    const { admin } = setting.database;
    await admin.query('BEGIN; LOCK TABLE idempotency_record IN ACCESS EXCLUSIVE MODE');
    const responses = Promise.all(Array.from({ length: 12 }, again));
    await endWaiting(setting.database, 1);
    await admin.query('ROLLBACK');
    const replays = (await responses).map((response) => [response.text, response.headers.get('idempotent-replayed')]);
    expect(replays).toEqual(replays.map(() => [text, 'true']));
  });

  it('gets a response to a read within five seconds although Postgres is asked twice', async () => {
    expect((await client.get(asset)).status).toBe(200);
    setting.proxy.slowDown(1_400);
    try {
      // Each query takes 2.8 s.
      const { status, headers } = await client.get(asset);
      expect([status, headers.get('Retry-After')]).toEqual([503, '1']);
    } finally {
      setting.proxy.slowDown(0);
    }
  });

  it('gets a response to a read of audit events within five seconds, however often Postgres is asked', async () => {
    expect((await client.get('/v1/audit-events')).status).toBe(200);
    // Reading the grant takes 1.4 s.
    setting.proxy.slowDown(700);
    try {
      const since = performance.now();
      const { status } = await client.get('/v1/audit-events');
      expect([200, 503]).toContain(status);
      expect(performance.now() - since).toBeLessThan(5_000);
    } finally {
      setting.proxy.slowDown(0);
    }
  });

  it('gets a response to a write within five seconds although its grant took two of them', async () => {
    expect((await client.get(asset)).status).toBe(200);
    setting.proxy.slowDown(1_100);
    try {
      // Reading the grant takes 2.2 s, the change and its commit 4.4 s.
      const { status, headers } = await client.patch(asset, { description: 'late' });
      expect([status, headers.get('Retry-After')]).toEqual([503, '1']);
    } finally {
      setting.proxy.slowDown(0);
    }
  });
});

describe('After connections to Postgres were lost, a client', () => {
  let setting: DatabaseBehindProxy;
  let app: TestApp;
  beforeAll(async () => {
    setting = await openDatabaseBehindProxy();
    // With Redis the idempotency key is the first query to Postgres.
    app = await startAppOn(setting.database, { REDIS_URL: redisOfTheRun() });
  });
  afterAll(async () => {
    await app.stop();
    await setting.close();
  });

  it.each(['/v1/inventory/assets', '/v1/inventory/changes', '/v1/audit-events'])('reads %s', async (path) => {
    const client = await app.arrange.aClient(await app.arrange.aWorkspace());
    expect((await client.get(path)).status).toBe(200);
    setting.proxy.forget();
    expect((await client.get(path)).status).toBe(200);
  });

  it('writes, and gets the response again when it repeats a write', async () => {
    const workspace = await app.arrange.aWorkspace();
    const client = await app.arrange.aClient(workspace);
    const asset = `/v1/inventory/assets/${(await app.arrange.anAsset(workspace)).id}`;
    const write = () => client.patch(asset, { description: 'once' }, { 'Idempotency-Key': 'the same' });
    expect((await write()).status).toBe(200);
    setting.proxy.forget();
    const first = await client.patch(asset, { description: 'first' });
    expect([first.status, first.headers.get('Idempotent-Replayed')]).toEqual([200, null]);
    setting.proxy.forget();
    const again = await write();
    expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([200, 'true']);
  });
});
