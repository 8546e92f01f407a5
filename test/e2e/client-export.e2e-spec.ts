import { ComplianceClient } from '../../libs/client/src';
import { CuttingProxy } from '../support/cutting-proxy';
import { type TestApp, startApp } from '../support/start-app';

describe('client.export', () => {
  let app: TestApp;
  let credentials: { clientId: string; clientSecret: string };
  let workspace: string;

  beforeAll(async () => {
    app = await startApp();
    workspace = await app.arrange.aWorkspace();
    await app.arrange.manyAssets(workspace, 3_500);
    await app.arrange.anAsset(workspace, { type: 'COMPUTER' });
    credentials = await app.arrange.anApplication(workspace);
  });
  afterAll(() => app.stop());

  const idsOf = async (items: AsyncIterable<{ id: string }>): Promise<string[]> => {
    const ids: string[] = [];
    for await (const { id } of items) ids.push(id);
    return ids;
  };

  it('returns every asset and every computer once', async () => {
    const api = new ComplianceClient({ baseUrl: app.origin, ...credentials });

    const assets = await idsOf(api.export());
    const computers = await idsOf(api.exportComputers());

    expect([assets.length, new Set(assets).size, computers.length]).toEqual([3_501, 3_501, 1]);
    expect(await idsOf(api.export({ categoryKey: 'COMPUTER' }))).toEqual(computers);
  });

  it('resumes after its connection was cut', async () => {
    const proxy = await CuttingProxy.to(app.port);
    const api = new ComplianceClient({ baseUrl: proxy.origin, ...credentials });
    await api.me();
    proxy.cutNext(1, 'in the middle');

    const assets = await idsOf(api.export());

    expect([assets.length, new Set(assets).size, proxy.uncut]).toEqual([3_501, 3_501, 0]);
    await proxy.close();
  });

  it('returns the cursor from which the change feed continues', async () => {
    const api = new ComplianceClient({ baseUrl: app.origin, ...credentials });
    let cursor: string | null = null;
    const cursorStore = { read: async () => cursor, write: async (written: string) => void (cursor = written) };

    await idsOf(api.exportComputers({}, { feedCursorStore: cursorStore }));
    const { id } = await app.arrange.anAsset(workspace, { type: 'COMPUTER' });

    expect(await idsOf(api.computerChanges({}, { cursorStore }))).toEqual([id]);
  });

  it('throws the problem of the API', async () => {
    const api = new ComplianceClient({ baseUrl: app.origin, ...credentials });

    await expect(idsOf(api.export({ categoryKey: 'CLOUD', subKey: 'COMPUTER' }))).rejects.toMatchObject({
      code: 'validation_failed',
    });
  });

  it('stops at once when aborted', async () => {
    const leaving = new AbortController();
    const api = new ComplianceClient({ baseUrl: app.origin, ...credentials });

    const reading = (async () => {
      for await (const _ of api.export({}, { signal: leaving.signal })) leaving.abort(new Error('enough'));
    })();

    await expect(reading).rejects.toThrow('enough');
  });
});
