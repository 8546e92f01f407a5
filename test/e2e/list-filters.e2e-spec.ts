import { SUB_KEYS } from '../../libs/inventory/src/assets/domain/asset-category';
import type { ApiClient } from '../support/api-client';
import { type TestApp, startApp } from '../support/start-app';

const ASSETS = '/v1/inventory/assets';

describe('Filters of lists', () => {
  let app: TestApp;
  let client: ApiClient;

  beforeAll(async () => {
    app = await startApp();
    client = await app.arrange.aClient(await app.arrange.aWorkspace());
  });
  afterAll(() => app.stop());

  describe('400', () => {
    it.each([
      [ASSETS, 'categoryKeyAnyOf', ''],
      [ASSETS, 'categoryKeyAnyOf', 'CLOUD,'],
      [ASSETS, 'categoryKeyAnyOf', 'CLOUD,CLOUD'],
      [ASSETS, 'categoryKeyAnyOf', 'CLOUD, COMPUTER'],
      [ASSETS, 'categoryKeyAnyOf', 'cloud'],
      [ASSETS, 'subKeyAnyOf', 'CLOUD;CUSTOM'],
      [ASSETS, 'subKeyAnyOf', [...SUB_KEYS, 'CLOUD_NEW'].join()],
      [ASSETS, 'classificationAnyOf', 'PUBLIC,SECRET'],
    ])('%s returns 400 naming %s when it is %j', async (path, parameter, value) => {
      const { status, body } = await client.get(`${path}?${new URLSearchParams({ [parameter]: value }).toString()}`);
      expect([status, body['code']]).toEqual([400, 'validation_failed']);
      expect(body['errors']).toEqual([expect.objectContaining({ parameter })]);
    });

    it.each([
      ['categoryKeyAnyOf', 'categoryKey=CLOUD&categoryKeyAnyOf=CLOUD'],
      ['subKeyAnyOf', 'subKey=CUSTOM&subKeyAnyOf=CUSTOM'],
      ['classificationAnyOf', 'classification=PUBLIC&classificationAnyOf=PUBLIC'],
    ])('refuse %s together with its single filter', async (parameter, query) => {
      const { status, body } = await client.get(`${ASSETS}?${query}`);
      expect([status, body['errors']]).toEqual([400, [expect.objectContaining({ parameter })]]);
    });
  });
});
