import { randomUUID } from 'node:crypto';
import { type TestApp, startApp } from '../support/start-app';
import type { ApiClient } from '../support/api-client';

const ASSETS = '/v1/inventory/assets';
const COMPUTERS = '/v1/computers';

interface Entry {
  readonly validFrom: string;
  readonly validTo: string | null;
  readonly origin: Record<string, string> | null;
  readonly changedFields: string[];
  readonly asset: Record<string, unknown> | null;
  readonly computer: Record<string, unknown> | null;
}

describe('The history', () => {
  let app: TestApp;
  let workspace: string;
  let client: ApiClient;

  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());
  beforeEach(async () => {
    workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace);
  });

  const history = async (path: string, query: Record<string, string> = {}) => {
    const { results, pageInfo } = await client.page(`${path}/history`, query);
    return { entries: results as unknown as Entry[], pageInfo };
  };
  const patch = async (id: string, body: object): Promise<Record<string, unknown>> => {
    const response = await client.patch(`${ASSETS}/${id}`, body);
    expect(response.status).toBe(200);
    return response.body;
  };
  const set = (internalId: string, assignment: string): Promise<void> =>
    app.arrange.change(workspace, `UPDATE asset SET ${assignment} WHERE workspace_id = $1 AND id = $2`, [
      workspace,
      internalId,
    ]);
  const refusal = async (path: string) => {
    const { status, body } = await client.get(path);
    return { status, code: body['code'], errors: body['errors'] };
  };

  describe('of an asset', () => {
    it('shows each state as it was read, newest first, with who made it and what changed', async () => {
      const { id } = await app.arrange.anAsset(workspace);
      const { id: owner } = await app.arrange.anEmployee(workspace);
      const states = [(await client.get(`${ASSETS}/${id}`)).body];
      states.push(await patch(id, { ownerId: owner }));
      states.push(await patch(id, { description: 'Reviewed', classification: 'INTERNAL' }));

      const { entries, pageInfo } = await history(`${ASSETS}/${id}`);

      expect(pageInfo).toEqual({ hasNextPage: false, endCursor: null, totalCount: 3 });
      expect(entries.map(({ asset }) => asset)).toEqual([...states].reverse());
      expect(entries.map(({ changedFields }) => changedFields)).toEqual([
        ['classification', 'description'],
        ['completeStatus', 'ownerId', 'ownerSource'],
        [],
      ]);
      expect(entries[0]?.origin).toMatchObject({ type: 'API', clientId: expect.stringMatching(/^ci_/) as string });
      expect(entries[2]?.origin).toEqual({ type: 'OPERATOR' });
      const { body } = await client.get('/v1/inventory/changes');
      const change = (body['results'] as { id: string; changedAt: string }[]).find((one) => one.id === id);
      expect(entries[0]).toMatchObject({ validFrom: change?.changedAt, validTo: null });
      expect(entries.slice(1).map(({ validTo }) => validTo)).toEqual(
        entries.slice(0, -1).map(({ validFrom }) => validFrom),
      );
    });

    it('has an entry without asset for each time that it was hidden, also now', async () => {
      const { id, internalId } = await app.arrange.anAsset(workspace);
      for (const visibility of [1, 2, 0, 1]) await set(internalId, `visibility = ${visibility}`);

      const { entries, pageInfo } = await history(`${ASSETS}/${id}`);

      expect(pageInfo.totalCount).toBe(5);
      expect(entries.map(({ asset }) => asset?.['id'] ?? null)).toEqual([null, id, null, null, id]);
      expect(entries.every(({ changedFields }) => changedFields.length === 0)).toBe(true);
    });

    it('pages without gaps while the asset changes', async () => {
      const { id } = await app.arrange.anAsset(workspace);
      for (const description of ['one', 'two', 'three', 'four']) await patch(id, { description });
      const seen: unknown[] = [];
      let query: Record<string, string> = { pageSize: '1' };
      for (let page = 1; ; page += 1) {
        const { entries, pageInfo } = await history(`${ASSETS}/${id}`, query);
        seen.push(...entries.map(({ asset, changedFields }) => [asset?.['description'], ...changedFields]));
        await patch(id, { classification: page % 2 === 0 ? 'PUBLIC' : 'INTERNAL' });
        if (!pageInfo.hasNextPage) break;
        query = { pageSize: page === 1 ? '1' : '2', pageCursor: pageInfo.endCursor as string };
      }
      expect(seen).toEqual([
        ['four', 'description'],
        ['three', 'description'],
        ['two', 'description'],
        ['one', 'description'],
        [null],
      ]);
    });

    it('has no entry for a check-in, and shows none that came after a state', async () => {
      const columns = { last_checked_at: '2026-01-01T00:00:00Z' };
      const { id, internalId } = await app.arrange.anAsset(workspace, { columns });
      await patch(id, { description: 'one' });
      await set(internalId, `last_checked_at = now() + interval '1 hour'`);
      await patch(id, { description: 'two' });

      const { entries } = await history(`${ASSETS}/${id}`);

      expect(entries.map(({ asset }) => asset?.['lastCheckedAt'])).toEqual([
        expect.stringMatching(/^20/),
        null,
        '2026-01-01T00:00:00.000Z',
      ]);
    });

    it('is not found for an id that was never visible or is another workspace’s', async () => {
      const elsewhere = await app.arrange.aWorkspace();
      const ids = [
        randomUUID(),
        (await app.arrange.anAsset(workspace, { visibility: 'HIDDEN' })).id,
        (await app.arrange.anAsset(elsewhere)).id,
      ];
      for (const id of ids) {
        expect(await refusal(`${ASSETS}/${id}/history`)).toMatchObject({ status: 404, code: 'not_found' });
      }
      expect(await refusal(`${ASSETS}/x/history`)).toMatchObject({ status: 400 });
    });

    it('refuses a cursor of another asset, other parameters, and a client without the scope', async () => {
      const [one, other] = [await app.arrange.anAsset(workspace), await app.arrange.anAsset(workspace)];
      for (const { id } of [one, other]) await patch(id, { description: 'one' });
      const { pageInfo } = await history(`${ASSETS}/${one.id}`, { pageSize: '1' });

      const path = `${ASSETS}/${other.id}/history`;
      expect(await refusal(`${path}?pageCursor=${pageInfo.endCursor}`)).toMatchObject({ code: 'invalid_cursor' });
      expect(await refusal(`${path}?pageSize=101`)).toMatchObject({ errors: [{ parameter: 'pageSize' }] });
      expect(await refusal(`${path}?expand=owner`)).toMatchObject({ errors: [{ parameter: 'expand' }] });
      const reader = await app.arrange.aClient(workspace, ['computers:read']);
      expect((await reader.get(path)).status).toBe(403);
      expect((await reader.get(`${COMPUTERS}/${other.id}/history`)).status).toBe(404);
    });
  });

  describe('of a computer', () => {
    it('shows its posture as it was, and changes of the asset alone without fields', async () => {
      const posture = { agent_version: '2.4.0', antivirus_installed: true, screen_lock_enabled: false };
      const { id } = await app.arrange.anAsset(workspace, { type: 'COMPUTER', posture });
      const states = [(await client.get(`${COMPUTERS}/${id}`)).body];
      await patch(id, { description: 'of the asset alone' });
      states.push((await client.get(`${COMPUTERS}/${id}`)).body);
      const { id: owner } = await app.arrange.anEmployee(workspace);
      await patch(id, { ownerId: owner });
      states.push((await client.get(`${COMPUTERS}/${id}`)).body);

      const { entries } = await history(`${COMPUTERS}/${id}`);

      expect(entries.map(({ computer }) => computer)).toEqual([...states].reverse());
      expect(entries.map(({ changedFields }) => changedFields)).toEqual([['ownerId'], [], []]);
    });

    it('is not found for another kind of asset', async () => {
      const { id } = await app.arrange.anAsset(workspace);
      expect(await refusal(`${COMPUTERS}/${id}/history`)).toMatchObject({ status: 404 });
    });
  });
});
