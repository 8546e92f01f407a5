import { ComplianceClient, ConnectionLost, type ClientOptions } from '#libs/client';
import { ApiProcess } from '../support/api-process';
import { freePort } from '../support/free-port';
import { CuttingProxy } from '../support/cutting-proxy';
import { type TestApp, startApp, startInstance } from '../support/start-app';
import { TcpProxy } from '../support/tcp-proxy';

const BRISK = { firstPauseMs: 20 };

describe('The client during failures', () => {
  let app: TestApp;
  let workspace: string;
  let proxy: CuttingProxy;
  beforeAll(async () => {
    app = await startApp();
    workspace = await app.arrange.aWorkspace();
    proxy = await CuttingProxy.to(app.port);
  });
  afterAll(async () => {
    await proxy.close();
    await app.stop();
  });

  const aClient = async (options: Partial<ClientOptions> = {}): Promise<ComplianceClient> =>
    new ComplianceClient({
      baseUrl: proxy.origin,
      ...(await app.arrange.anApplication(workspace)),
      retry: BRISK,
      ...options,
    });
  const auditOf = async (assetId: string) => {
    const { rows } = await app.database.admin.query<{ count: string }>(
      'SELECT count(*) FROM audit_event WHERE asset_id = $1',
      [assetId],
    );
    return Number(rows[0]?.count);
  };

  it.each(['before', 'in the middle'] as const)(
    'applies an update once and returns the first response when that was lost (%s)',
    async (where) => {
      const client = await aClient();
      const { id } = await app.arrange.anAsset(workspace);
      await client.getAsset(id);
      proxy.cutNext(2, where);
      const { body, replayed } = await client.updateAsset(id, { description: 'Once' });
      expect([body.description, replayed, proxy.uncut]).toEqual(['Once', true, 0]);
      expect(await auditOf(id)).toBe(1);
    },
  );

  it('reads every page exactly once when responses are lost', async () => {
    const space = await app.arrange.aWorkspace();
    for (let made = 0; made < 5; made += 1) await app.arrange.anAsset(space);
    const client = await aClient({ ...(await app.arrange.anApplication(space)) });
    const seen: string[] = [];
    for await (const { id } of client.listAssets({ pageSize: 1 })) {
      seen.push(id);
      proxy.cutNext(1);
    }
    proxy.cutNext(0);
    expect([seen.length, new Set(seen).size]).toEqual([5, 5]);
  });

  it('throws ConnectionLost when every attempt gets no response', async () => {
    const client = await aClient({ retry: { ...BRISK, attempts: 3 } });
    const { id } = await app.arrange.anAsset(workspace);
    await client.getAsset(id);
    proxy.cutNext(3);
    await expect(client.getAsset(id)).rejects.toBeInstanceOf(ConnectionLost);
    expect(proxy.uncut).toBe(0);
    const nowhere = await aClient({ baseUrl: `http://127.0.0.1:${await freePort()}`, retry: { attempts: 1 } });
    await expect(nowhere.getHealth()).rejects.toThrow(/ECONNREFUSED/);
  });

  it('retries when a response is late', async () => {
    const black = await TcpProxy.to('127.0.0.1', app.port);
    try {
      const client = await aClient({ baseUrl: `http://127.0.0.1:${black.port}`, timeoutMs: 150 });
      await client.getHealth();
      await black.set('blackhole');
      setTimeout(() => void black.set('forward'), 250);
      expect((await client.getHealth()).body.status).toBe('ok');
    } finally {
      await black.close();
    }
  });

  it('waits for Retry-After on 429 without failing a call', async () => {
    const limited = await startInstance(app, { RATE_LIMIT_READ: '60/2' });
    try {
      const client = await aClient({ baseUrl: limited.origin });
      const since = Date.now();
      for (let call = 0; call < 3; call += 1) await client.listComputers().pages().next();
      expect(Date.now() - since).toBeGreaterThanOrEqual(950);
      const responses = limited.logLines.filter(({ route }) => route === '/v1/computers').map(({ status }) => status);
      expect(responses).toEqual([200, 200, 429, 200]);
    } finally {
      await limited.stop();
    }
  });

  it('retries after 503, and applies an update once', async () => {
    const { hostname, port: databasePort } = new URL(app.database.databaseUrl);
    const gate = await TcpProxy.to(hostname, Number(databasePort));
    const through = new URL(app.database.databaseUrl);
    through.port = String(gate.port);
    const port = await freePort();
    const api = new ApiProcess({
      DATABASE_URL: through.toString(),
      LOCAL_DIR: app.settings.localDir,
      BASE_URL: app.settings.baseUrl,
      PORT: String(port),
      MANAGEMENT_PORT: '0',
    });
    try {
      await api.serving();
      const statuses: number[] = [];
      const client = await aClient({
        baseUrl: `http://127.0.0.1:${port}`,
        fetch: async (input, init) => {
          const response = await fetch(input, init);
          statuses.push(response.status);
          if (response.status === 503) await gate.set('forward');
          return response;
        },
      });
      const { id } = await app.arrange.anAsset(workspace);
      await client.getAsset(id);
      await gate.set('refuse');
      expect((await client.updateAsset(id, { description: 'Once' })).body.description).toBe('Once');
      expect(statuses).toEqual([200, 200, 503, 200]);
      expect(await auditOf(id)).toBe(1);
    } finally {
      await api.kill();
      await gate.close();
    }
  });
});
