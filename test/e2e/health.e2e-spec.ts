import { type TestApp, startApp } from '../support/start-app';

describe('GET /v1/health', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());

  it('returns ok and the API version without a token', async () => {
    const response = await app.client().get('/v1/health');
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ status: 'ok', version: '1.0.0' });
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('returns 200 for conditional requests, as every read does', async () => {
    const workspace = await app.arrange.aWorkspace();
    const { id } = await app.arrange.anAsset(workspace);
    const client = await app.arrange.aClient(workspace);
    for (const path of ['/v1/health', '/v1/inventory/assets', `/v1/inventory/assets/${id}`]) {
      const { status } = await client.get(path, { headers: { 'If-None-Match': '*' } });
      expect([path, status]).toEqual([path, 200]);
    }
  });

  it('ignores the Authorization header, even a malformed one', async () => {
    const response = await app.client('not a token').get('/v1/health');
    expect(response.status).toBe(200);
  });
});
