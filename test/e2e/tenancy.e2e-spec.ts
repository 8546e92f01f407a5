import { randomUUID } from 'node:crypto';
import { type TestApp, startApp } from '../support/start-app';

/** Calls every operation of the contract from a workspace that owns none of the requested data. */
describe('Tenancy', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());

  it('hides other workspaces in every operation', async () => {
    const theirs = await app.arrange.aWorkspace();
    const theirComputer = await app.arrange.anAsset(theirs, { type: 'COMPUTER', name: 'their-secret-name' });
    await app.arrange.anAsset(theirs, { type: 'CUSTOM', name: 'their-secret-name' });
    const theirClient = await app.arrange.aClient(theirs);
    const theirCursor = (await theirClient.page('/v1/inventory/assets', { pageSize: '1' })).pageInfo
      .endCursor as string;

    const client = await app.arrange.aClient(await app.arrange.aWorkspace());
    const contract = await app.client().get<{ paths: Record<string, Record<string, unknown>> }>('/docs/openapi.json');
    const operations = Object.entries(contract.body.paths)
      .filter(([path]) => path.startsWith('/v1/') && path !== '/v1/health')
      .flatMap(([path, methods]) => Object.keys(methods).map((method) => ({ path, method })));
    expect(operations.length).toBeGreaterThanOrEqual(7);
    const write = (path: string) => {
      const patch = { description: 'taken over' };
      const body = JSON.stringify(path.includes('{id}') ? patch : { ids: [theirComputer.id], patch });
      return { body, headers: { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() } };
    };
    for (const { path, method } of operations) {
      const target = path.replace('{id}', theirComputer.id);
      const init = method === 'patch' ? write(path) : {};
      const response = await client.send(method.toUpperCase(), target, init);
      expect([path, response.text.includes('their-secret-name')]).toEqual([path, false]);
      if (path.includes('{id}')) expect([path, response.status]).toEqual([path, 404]);
      else if (method === 'patch') expect(response.body).toMatchObject({ successfulUpdates: 0, failedUpdates: 1 });
      else if (path.endsWith('/checkpoint')) expect(response.text).toMatch(/^\S+\n0\n/);
      else if (path.endsWith('/summary')) expect(response.text).not.toMatch(/"total":[1-9]/);
      else if (response.status === 200 && !path.endsWith('categories') && path !== '/v1/me') {
        expect(response.body).toMatchObject({ results: [], pageInfo: { hasNextPage: false } });
        if (!/\/(changes|audit-events)$/.test(path))
          expect(response.body).toMatchObject({ pageInfo: { totalCount: 0 } });
      }
      if (path === '/v1/me') expect(response.text).not.toContain(theirs);
      const withCursor = method === 'patch' ? write(path) : {};
      const replayed = await client.send(method.toUpperCase(), `${target}?pageCursor=${theirCursor}`, withCursor);
      expect(replayed.status).toBe(400);
    }
    const { body } = await theirClient.get(`/v1/inventory/assets/${theirComputer.id}`);
    expect(body['description']).toBeNull();
  });
});
