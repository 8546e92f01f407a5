import { randomUUID } from 'node:crypto';
import type { ApiClient } from '../support/api-client';
import { type TestApp, startApp } from '../support/start-app';

const PATH = '/v1/inventory/assets';

describe('GET /v1/inventory/assets/{id}', () => {
  let app: TestApp;
  let workspace: string;
  let client: ApiClient;

  beforeAll(async () => {
    app = await startApp();
    workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace);
  });
  afterAll(() => app.stop());

  it('returns the same asset as the list, for upper and lower case ids', async () => {
    const { id } = await app.arrange.anAsset(workspace);
    const [listed] = (await client.page(PATH)).results;
    expect((await client.get(`${PATH}/${id}`)).body).toEqual(listed);
    expect((await client.get(`${PATH}/${id.toUpperCase()}`)).body).toEqual(listed);
  });

  it('returns the same 404 for every unknown, hidden, deleted and foreign id', async () => {
    const hidden = await app.arrange.anAsset(workspace, { visibility: 'HIDDEN' });
    const deleted = await app.arrange.anAsset(workspace, { visibility: 'DELETED' });
    const foreign = await app.arrange.anAsset(await app.arrange.aWorkspace());
    const bodies: unknown[] = [];
    for (const id of [randomUUID(), hidden.id, deleted.id, foreign.id]) {
      const { status, body } = await client.get(`${PATH}/${id}`);
      expect(status).toBe(404);
      bodies.push({ ...body, requestId: '', instance: (body['instance'] as string).replace(id, '') });
    }
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
    expect(bodies[0]).toMatchObject({ code: 'not_found', title: 'Not Found', status: 404 });
  });

  it('accepts any id of 8-4-4-4-12 hexadecimal digits', async () => {
    expect((await client.get(`${PATH}/00000000-0000-0000-0000-000000000000`)).status).toBe(404);
    expect((await client.get(`${PATH}/ffffffff-ffff-ffff-ffff-ffffffffffff`)).status).toBe(404);
  });

  it.each([
    'x',
    '1',
    'null',
    '%00',
    '%ZZ',
    '%FF',
    '%2F',
    '..%2f..',
    randomUUID().replaceAll('-', ''),
    `${randomUUID()}x`,
    '💥',
  ])('returns 400 and names id for %s', async (id) => {
    const response = await client.get(`${PATH}/${id}`);
    expect([response.status, response.body['code']]).toEqual([400, 'validation_failed']);
    expect(response.body['errors']).toEqual([expect.objectContaining({ parameter: 'id' })]);
  });

  it('checks the token before the id', async () => {
    for (const id of ['x', '%ZZ', '%FF', randomUUID()]) {
      expect((await app.client().get(`${PATH}/${id}`)).body['code']).toBe('token_missing');
    }
  });

  it('refuses every query parameter', async () => {
    const { id } = await app.arrange.anAsset(workspace);
    const response = await client.get(`${PATH}/${id}?expand=tags`);
    expect([response.status, response.body['code']]).toEqual([400, 'validation_failed']);
    expect(response.body['errors']).toEqual([expect.objectContaining({ parameter: 'expand' })]);
  });
});
