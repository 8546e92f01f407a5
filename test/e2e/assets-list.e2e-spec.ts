import {
  ASSET_TYPES,
  CATEGORY_KEYS,
  SUB_KEYS,
  categoryOf,
} from '../../libs/inventory/src/assets/domain/asset-category';
import { CLASSIFICATIONS, COMPLETE_STATUSES } from '../../libs/inventory/src/assets/domain/asset';
import type { ApiClient, PageBody } from '../support/api-client';
import { type TestApp, startApp } from '../support/start-app';

const PATH = '/v1/inventory/assets';

describe('GET /v1/inventory/assets', () => {
  let app: TestApp;
  let workspace: string;
  let client: ApiClient;

  beforeAll(async () => {
    app = await startApp();
    workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace);
  });
  afterAll(() => app.stop());

  describe('200', () => {
    it('returns an empty page for an empty workspace', async () => {
      const empty = await app.arrange.aClient(await app.arrange.aWorkspace());
      expect(await empty.page(PATH)).toEqual({
        results: [],
        pageInfo: { hasNextPage: false, endCursor: null, totalCount: 0 },
      });
    });

    it('returns 25 assets a page by default', async () => {
      const here = await app.arrange.aWorkspace();
      for (let index = 0; index < 26; index += 1) await app.arrange.anAsset(here);
      const page = await (await app.arrange.aClient(here)).page(PATH);
      expect(page.results).toHaveLength(25);
      expect(page.pageInfo).toEqual({ hasNextPage: true, endCursor: expect.any(String) as string, totalCount: 26 });
    });

    it('leaves out hidden and deleted assets and does not count them', async () => {
      const here = await app.arrange.aWorkspace();
      const seen = await app.arrange.anAsset(here);
      await app.arrange.anAsset(here, { visibility: 'HIDDEN' });
      await app.arrange.anAsset(here, { visibility: 'DELETED' });
      const page = await (await app.arrange.aClient(here)).page(PATH);
      expect(page.results.map(({ id }) => id)).toEqual([seen.id]);
      expect(page.pageInfo.totalCount).toBe(1);
    });

    it('returns UNKNOWN, INCOMPLETE and null for an asset nobody has described', async () => {
      const here = await app.arrange.aWorkspace();
      await app.arrange.anAsset(here, { description: '' });
      const [asset] = (await (await app.arrange.aClient(here)).page(PATH)).results;
      expect(asset).toMatchObject({
        classification: 'UNKNOWN',
        completeStatus: 'INCOMPLETE',
        description: null,
        ownerId: null,
        ownerSource: null,
        lastCheckedAt: null,
        tags: [],
        dataStored: null,
      });
    });

    it('returns the headers of GET for HEAD, without a body', async () => {
      const response = await client.send('HEAD', PATH);
      expect([response.status, response.text]).toEqual([200, '']);
    });
  });

  describe('filters', () => {
    let here: ApiClient;
    let all: readonly Record<string, unknown>[];

    beforeAll(async () => {
      const workspaceOfFilters = await app.arrange.aWorkspace();
      const owner = await app.arrange.anEmployee(workspaceOfFilters);
      for (const type of ASSET_TYPES)
        for (const classification of CLASSIFICATIONS)
          for (const ownerId of [null, owner.id])
            for (const description of [null, 'd'])
              await app.arrange.anAsset(workspaceOfFilters, { type, classification, ownerId, description });
      here = await app.arrange.aClient(workspaceOfFilters);
      all = await here.walk(PATH, { pageSize: '100' });
      expect(all).toHaveLength(15 * 16 + 1);
    });

    /** The filters as the specification words them, applied to the API's own output. */
    const matches = (asset: Record<string, unknown>, query: Readonly<Record<string, string>>) =>
      (query['categoryKey'] === undefined || asset['categoryKey'] === query['categoryKey']) &&
      (query['subKey'] === undefined || [asset['type'], asset['categoryKey']].includes(query['subKey'])) &&
      (query['categoryKeyAnyOf']?.split(',').includes(String(asset['categoryKey'])) ?? true) &&
      (query['subKeyAnyOf']?.split(',').some((one) => [asset['type'], asset['categoryKey']].includes(one)) ?? true) &&
      (query['classificationAnyOf']?.split(',').includes(String(asset['classification'])) ?? true) &&
      (query['hasOwner'] === undefined || String(asset['ownerId'] !== null) === query['hasOwner']) &&
      (query['hasDescription'] === undefined || String(asset['description'] !== null) === query['hasDescription']) &&
      (query['classification'] === undefined || asset['classification'] === query['classification']) &&
      (query['completeStatus'] === undefined || asset['completeStatus'] === query['completeStatus']);

    it('returns what the model returns for all six at once', async () => {
      let found = 0;
      for (const [place, subKey] of SUB_KEYS.entries())
        for (let nth = 0; nth < 4; nth += 1) {
          // Each pair of values comes at least once. The test of the repository has every combination.
          const query = {
            ...{ categoryKey: categoryOf(subKey), subKey },
            ...{ hasOwner: String(nth < 2), hasDescription: String(nth % 2 === 0) },
            classification: CLASSIFICATIONS[(place + nth) % CLASSIFICATIONS.length] as string,
            completeStatus: COMPLETE_STATUSES[((place >> 2) + nth) % COMPLETE_STATUSES.length] as string,
          };
          const page = await here.page(PATH, query);
          const expected = all.filter((asset) => matches(asset, query));
          expect([query, page.results.map(({ id }) => id)]).toEqual([query, expected.map(({ id }) => id)]);
          expect([query, page.pageInfo.totalCount]).toEqual([query, expected.length]);
          found += expected.length;
        }
      expect(found).toBeGreaterThan(16);
    });

    it('refuses a type of another category', async () => {
      let refused = 0;
      for (const categoryKey of CATEGORY_KEYS)
        for (const subKey of SUB_KEYS.filter((one) => categoryOf(one) !== categoryKey)) {
          const { status, text } = await here.get(`${PATH}?categoryKey=${categoryKey}&subKey=${subKey}`);
          expect([subKey, status, text]).toEqual([subKey, 400, expect.stringContaining('"parameter":"subKey"')]);
          refused += 1;
        }
      expect(refused).toBe(16 * 4);
    });

    it.each([
      [{ categoryKey: 'CLOUD' }],
      [{ subKey: 'CLOUD' }],
      [{ subKey: 'CLOUD_QUEUE' }],
      [{ hasOwner: 'false' }],
      [{ hasDescription: 'true' }],
      [{ classification: 'UNKNOWN' }],
      [{ completeStatus: 'COMPLETE' }],
      [{ completeStatus: 'COMPLETE', hasOwner: 'true' }],
      [{ categoryKey: 'CLOUD', hasDescription: 'false', classification: 'PUBLIC' }],
      [{ categoryKeyAnyOf: 'COMPUTER,CLOUD' }],
      [{ subKeyAnyOf: 'CLOUD_QUEUE,CUSTOM,CLOUD_OTHER', hasOwner: 'true' }],
      [{ subKeyAnyOf: SUB_KEYS.join(), classificationAnyOf: 'PUBLIC,UNKNOWN' }],
    ])('pages through exactly the assets that match %j', async (query) => {
      const walked = await here.walk(PATH, { ...(query as Record<string, string>), pageSize: '7' });
      const expected = all.filter((asset) => matches(asset, query as Record<string, string>));
      expect(walked.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
      expect(expected.length).toBeGreaterThan(7);
    });

    it('returns an empty page when completeStatus and hasOwner contradict each other', async () => {
      const page = await here.page(PATH, { completeStatus: 'COMPLETE', hasOwner: 'false' });
      expect(page).toEqual({ results: [], pageInfo: { hasNextPage: false, endCursor: null, totalCount: 0 } });
    });

    it.each([
      [{ categoryKey: 'CLOUD', subKeyAnyOf: 'COMPUTER,CUSTOM' }],
      [{ subKey: 'CUSTOM', categoryKeyAnyOf: 'CLOUD,COMPUTER' }],
      [{ categoryKeyAnyOf: 'CLOUD', subKeyAnyOf: 'CUSTOM' }],
    ])('returns an empty page for %j, whose values contradict each other', async (query) => {
      const page = await here.page(PATH, query as unknown as Record<string, string>);
      expect(page).toEqual({ results: [], pageInfo: { hasNextPage: false, endCursor: null, totalCount: 0 } });
    });
  });

  describe('a walk over all pages', () => {
    it.each(['7', 'mixed'])(
      'returns every asset that exists throughout exactly once with page size %s, during other changes',
      async (pageSize) => {
        const here = await app.arrange.aWorkspace();
        const owner = await app.arrange.anEmployee(here);
        const lasting: string[] = [owner.id];
        const passing: string[] = [];
        for (let index = 0; index < 120; index += 1) {
          const { id } = await app.arrange.anAsset(here, { name: `asset ${index}` });
          (index % 5 === 0 ? passing : lasting).push(id);
        }
        const sizes = ['1', '7', '100', '3'];
        let changes = 0;
        const change = async (pageNumber: number) => {
          if (pageNumber % 2 === 1 && changes < 40) {
            changes += 1;
            await app.arrange.anAsset(here);
            await app.arrange.change(here, `UPDATE asset SET visibility = 1 WHERE public_id = $1`, [
              passing[changes % 24],
            ]);
            await app.arrange.change(
              here,
              `UPDATE asset SET name = 'changed', classification = 3, description = 'x', owner_id = $2, owner_source = 2
                WHERE public_id = $1`,
              [lasting[changes * 2], owner.id],
            );
          }
          return pageSize === 'mixed' ? (sizes[pageNumber % sizes.length] as string) : undefined;
        };
        const client = await app.arrange.aClient(here);
        const walked = (
          await client.walk(
            PATH,
            { pageSize: pageSize === 'mixed' ? '5' : pageSize },
            async (n) => (await change(n)) ?? undefined,
          )
        ).map(({ id }) => id as string);
        expect(new Set(walked).size).toBe(walked.length);
        expect(walked).toEqual(expect.arrayContaining(lasting));
        expect(changes).toBeGreaterThan(0);
      },
    );

    it('keeps totalCount exact while assets come, go and change', async () => {
      const here = await app.arrange.aWorkspace();
      const client = await app.arrange.aClient(here);
      const total = async (query: Record<string, string> = {}) => (await client.page(PATH, query)).pageInfo.totalCount;
      const ids: string[] = [];
      for (let index = 0; index < 10; index += 1) ids.push((await app.arrange.anAsset(here, { description: 'd' })).id);
      expect(await total()).toBe(10);
      await app.arrange.change(here, 'UPDATE asset SET visibility = 2 WHERE public_id = ANY($1)', [ids.slice(0, 3)]);
      await app.arrange.change(here, `UPDATE asset SET description = NULL WHERE public_id = ANY($1)`, [
        ids.slice(2, 6),
      ]);
      expect([
        await total(),
        await total({ hasDescription: 'true' }),
        await total({ hasDescription: 'false' }),
      ]).toEqual([7, 4, 3]);
      await app.arrange.change(here, 'UPDATE asset SET visibility = 0 WHERE workspace_id = $1', [here]);
      await app.arrange.change(here, 'DELETE FROM asset WHERE public_id = ANY($1)', [ids.slice(0, 1)]);
      expect(await total()).toBe(9);
    });
  });

  describe('pageCursor', () => {
    let first: PageBody;
    let cursor: string;

    beforeAll(async () => {
      for (let index = 0; index < 4; index += 1) await app.arrange.anAsset(workspace, { classification: 'PUBLIC' });
      first = await client.page(PATH, { pageSize: '2', classification: 'PUBLIC' });
      cursor = first.pageInfo.endCursor as string;
    });
    const code = async (path: string, by = client) => {
      const response = await by.get(path);
      return [response.status, response.body['code']];
    };

    it('keeps the filters of the first request', async () => {
      await app.arrange.anAsset(workspace, { classification: 'INTERNAL' });
      const next = await client.page(PATH, { pageCursor: cursor });
      expect(next.results.map((asset) => asset['classification'])).toEqual(['PUBLIC', 'PUBLIC']);
      expect(next.pageInfo).toEqual({ hasNextPage: false, endCursor: null, totalCount: 4 });
    });

    it('is refused with another filter value or an additional filter', async () => {
      expect(await code(`${PATH}?pageCursor=${cursor}&classification=PUBLIC`)).toEqual([200, undefined]);
      expect(await code(`${PATH}?pageCursor=${cursor}&classification=INTERNAL`)).toEqual([400, 'invalid_cursor']);
      expect(await code(`${PATH}?pageCursor=${cursor}&hasOwner=false`)).toEqual([400, 'invalid_cursor']);
    });

    it('is refused when one character was changed, added or removed', async () => {
      for (let index = 0; index < cursor.length; index += 1) {
        const altered = `${cursor.slice(0, index)}${cursor[index] === 'A' ? 'B' : 'A'}${cursor.slice(index + 1)}`;
        expect(await code(`${PATH}?pageCursor=${altered}`)).toEqual([400, 'invalid_cursor']);
      }
      expect(await code(`${PATH}?pageCursor=${cursor}A`)).toEqual([400, 'invalid_cursor']);
      expect(await code(`${PATH}?pageCursor=${cursor}%3D`)).toEqual([400, 'invalid_cursor']);
      expect(await code(`${PATH}?pageCursor=${cursor.slice(0, -1)}`)).toEqual([400, 'invalid_cursor']);
      expect(await code(`${PATH}?pageCursor=x`)).toEqual([400, 'invalid_cursor']);
    });

    it('is refused on another list and in another workspace', async () => {
      expect(await code(`/v1/computers?pageCursor=${cursor}`)).toEqual([400, 'invalid_cursor']);
      expect(await code(`/v1/inventory/categories?pageCursor=${cursor}`)).toEqual([400, 'invalid_cursor']);
      const stranger = await app.arrange.aClient(await app.arrange.aWorkspace());
      expect(await code(`${PATH}?pageCursor=${cursor}`, stranger)).toEqual([400, 'invalid_cursor']);
    });

    it('is accepted from another application of the same workspace', async () => {
      expect(await code(`${PATH}?pageCursor=${cursor}`, await app.arrange.aClient(workspace))).toEqual([
        200,
        undefined,
      ]);
    });

    it('reveals nothing, and differs each time for the same place', async () => {
      const again = await client.page(PATH, { pageSize: '2', classification: 'PUBLIC' });
      expect(again.pageInfo.endCursor).not.toBe(cursor);
      expect(Buffer.from(cursor, 'base64url').toString('latin1')).not.toMatch(/PUBLIC|classification/);
    });
  });

  describe('400', () => {
    it.each([
      ['pageSize', '0'],
      ['pageSize', '101'],
      ['pageSize', '-1'],
      ['pageSize', '1.0'],
      ['pageSize', '1e1'],
      ['pageSize', '01'],
      ['pageSize', '+1'],
      ['pageSize', '%201'],
      ['pageSize', '１'],
      ['pageSize', ''],
      ['pageCursor', ''],
      ['categoryKey', 'cloud'],
      ['categoryKey', 'CLOUD,COMPUTER'],
      ['categoryKey', ''],
      ['subKey', 'CLOUD_'],
      ['hasOwner', 'TRUE'],
      ['hasOwner', '1'],
      ['hasOwner', ''],
      ['hasDescription', 'yes'],
      ['classification', 'SECRET'],
      ['classification', 'null'],
      ['completeStatus', 'complete'],
      ['pageSize[]', '1'],
      ['hasOwner[0]', 'true'],
      ['PageSize', '1'],
      ['sort', 'name'],
      ['__proto__', 'x'],
      ['constructor', 'x'],
      ['toString', 'x'],
      ['', 'x'],
      ['categoryKey', '%00'],
      ['categoryKey', '%ZZ'],
    ])('names %s when its value is %j', async (parameter, value) => {
      const response = await client.get(`${PATH}?${encodeURIComponent(parameter)}=${value}`);
      expect([response.status, response.body['code']]).toEqual([400, 'validation_failed']);
      expect(response.body['errors']).toEqual([
        expect.objectContaining({ parameter, detail: expect.any(String) as string }),
      ]);
    });

    it.each(['pageSize=5&pageSize=5', 'hasOwner=true&hasOwner=false', 'pageSize=5&pageSize='])(
      'refuses a repeated parameter: %s',
      async (query) => {
        const response = await client.get(`${PATH}?${query}`);
        expect([response.status, response.body['code']]).toEqual([400, 'validation_failed']);
        expect(response.text).toContain('"code":"duplicated"');
      },
    );

    it('finds an unknown parameter behind any number of empty ones', async () => {
      const empty = '&'.repeat(1_000);
      const response = await client.get(`${PATH}?${empty}pageSize=abc&foo=1`);
      expect(response.body['errors']).toMatchObject([
        { parameter: 'foo', code: 'unknown' },
        { parameter: 'pageSize', code: 'format' },
      ]);
      const here = await app.arrange.aWorkspace();
      await app.arrange.anAsset(here, { type: 'CUSTOM' });
      const filtered = await (await app.arrange.aClient(here)).get(`${PATH}?${empty}categoryKey=CLOUD`);
      expect(filtered.body).toMatchObject({ results: [], pageInfo: { totalCount: 0 } });
    });

    it('names every invalid parameter', async () => {
      const { body } = await client.get(`${PATH}?pageSize=0&hasOwner=maybe&what=ever`);
      const named = (body['errors'] as { parameter: string }[]).map(({ parameter }) => parameter);
      expect(named.sort()).toEqual(['hasOwner', 'pageSize', 'what']);
    });

    it.each([
      ['categoryKey=CLOUD&subKey=COMPUTER&pageSize=0', ['pageSize format', 'subKey choice']],
      ['categoryKey=cloud&subKey=COMPUTER', ['categoryKey choice']],
      ['categoryKey=CLOUD&subKey=computer', ['subKey choice']],
      ['categoryKey=cloud&subKey=computer', ['categoryKey choice', 'subKey choice']],
    ])('names each fault of a type and its category once: %s', async (query, expected) => {
      const { body } = await client.get(`${PATH}?${query}`);

      const faults = body['errors'] as { parameter: string; code: string }[];
      expect(faults.map(({ parameter, code }) => `${parameter} ${code}`).sort()).toEqual(expected);
    });
  });
});
