import { type TestApp, startApp } from '../support/start-app';

describe('A 500 in a test', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());

  it('leaves its cause once for the output of the test', async () => {
    const { causes } = globalThis as unknown as { causes: string[] };
    const client = await app.arrange.aClient(await app.arrange.aWorkspace());
    await app.database.admin.query('ALTER TABLE asset RENAME TO asset_away');
    try {
      const { status, headers } = await client.get('/v1/inventory/assets');

      expect(status).toBe(500);
      expect(causes).toEqual([expect.stringContaining('relation "asset" does not exist')]);
      expect(causes[0]).toContain(`request ${headers.get('X-Request-Id')}`);
    } finally {
      await app.database.admin.query('ALTER TABLE asset_away RENAME TO asset');
    }
  });
});
