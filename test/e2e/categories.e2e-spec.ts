import type { ApiClient } from '../support/api-client';
import { type TestApp, startApp } from '../support/start-app';

const PATH = '/v1/inventory/categories';
const CATEGORIES = [
  { key: 'CLOUD', displayLabel: 'Cloud resources' },
  { key: 'COMPUTER', displayLabel: 'Computers' },
  { key: 'CUSTOM', displayLabel: 'Custom assets' },
  { key: 'INFORMATION', displayLabel: 'Information assets' },
  { key: 'EMPLOYEE', displayLabel: 'Employees' },
];

describe('GET /v1/inventory/categories', () => {
  let app: TestApp;
  let client: ApiClient;

  beforeAll(async () => {
    app = await startApp();
    client = await app.arrange.aClient(await app.arrange.aWorkspace(), ['inventory:read']);
  });
  afterAll(() => app.stop());

  it('returns the five categories in the order of the specification', async () => {
    expect(await client.page(PATH)).toEqual({
      results: CATEGORIES,
      pageInfo: { hasNextPage: false, endCursor: null, totalCount: 5 },
    });
  });

  it.each(['1', '2', '3', '4', '5'])('pages by %s like every list', async (pageSize) => {
    expect(await client.walk(PATH, { pageSize })).toEqual(CATEGORIES);
  });

  it('refuses every filter', async () => {
    const response = await client.get(`${PATH}?categoryKey=CLOUD`);
    expect([response.status, response.body['code']]).toEqual([400, 'validation_failed']);
  });
});
