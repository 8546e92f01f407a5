import { SUB_KEYS } from '../../libs/inventory/src/assets/domain/asset-category';
import type { ApiClient } from '../support/api-client';
import { type TestApp, startApp } from '../support/start-app';
import { StreamReader } from '../support/stream-reader';

const ASSETS = '/v1/inventory/assets';
const TEXTS = ['externalId', 'source', 'serialNumber', 'email', 'name'];
const EXACT = ['ownerId', 'tagKey', ...TEXTS];
const NOBODY = '00000000-0000-4000-8000-000000000000';

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
      [ASSETS, 'ownerId', ''],
      [ASSETS, 'ownerId', 'ada'],
      [ASSETS, 'ownerId', '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c2'],
      [ASSETS, 'tagKey', ''],
      [ASSETS, 'tagKey', 'é'.repeat(1_001)],
      ...TEXTS.flatMap((parameter) => [
        [ASSETS, parameter, ''],
        [ASSETS, parameter, 'é'.repeat(parameter === 'externalId' ? 1_025 : 257)],
        [ASSETS, parameter, 'nul\0'],
      ]),
    ])('%s returns 400 naming %s when it is %j', async (path, parameter, value) => {
      const { status, body } = await client.get(`${path}?${new URLSearchParams({ [parameter]: value }).toString()}`);
      expect([status, body['code']]).toEqual([400, 'validation_failed']);
      expect(body['errors']).toEqual([expect.objectContaining({ parameter })]);
    });

    it.each(EXACT)('names %s when it is given twice', async (parameter) => {
      const { status, body } = await client.get(`${ASSETS}?${parameter}=${NOBODY}&${parameter}=${NOBODY}`);
      expect([status, body['errors']]).toEqual([400, [expect.objectContaining({ parameter })]]);
    });

    it.each(['100%', '%zz', 'Zust%E4ndig', '%C3', '%ED%A0%80', '%C0%80'])(
      'names the parameter when its value is %s, which is not percent-encoded UTF-8',
      async (encoded) => {
        for (const path of [ASSETS, '/v1/computers']) {
          const { status, body } = await client.get(`${path}?pageSize=1&serialNumber=${encoded}&source=x`);
          expect([status, body['code']]).toEqual([400, 'validation_failed']);
          expect(body['errors']).toEqual([expect.objectContaining({ parameter: 'serialNumber' })]);
        }
      },
    );

    it.each([
      ['categoryKeyAnyOf', 'categoryKey=CLOUD&categoryKeyAnyOf=CLOUD'],
      ['subKeyAnyOf', 'subKey=CUSTOM&subKeyAnyOf=CUSTOM'],
      ['classificationAnyOf', 'classification=PUBLIC&classificationAnyOf=PUBLIC'],
    ])('refuse %s together with its single filter', async (parameter, query) => {
      const { status, body } = await client.get(`${ASSETS}?${query}`);
      expect([status, body['errors']]).toEqual([400, [expect.objectContaining({ parameter })]]);
    });
  });

  describe('by an exact value', () => {
    let workspace: string;
    let here: ApiClient;
    let values: Readonly<Record<string, string>>;
    let matching: string[];

    beforeAll(async () => {
      workspace = await app.arrange.aWorkspace();
      here = await app.arrange.aClient(workspace);
      const owner = await app.arrange.anEmployee(workspace);
      const other = await app.arrange.anEmployee(workspace);
      values = { ownerId: owner.id, name: 'Wanted 🖨', source: 'wanted', tagKey: 'wanted 🏷' };
      await app.arrange.aTagKey(workspace, 'wanted 🏷');
      await app.arrange.aTagKey(workspace, 'Wanted 🏷');
      matching = [];
      for (let index = 0; index < 5; index += 1) {
        const type = index % 2 === 0 ? 'COMPUTER' : 'CLOUD_QUEUE';
        const wanted = { type, ownerId: owner.id, name: 'Wanted 🖨', columns: { source: 'wanted' } } as const;
        matching.push((await app.arrange.anAsset(workspace, wanted)).id);
        await app.arrange.anAsset(workspace, { type, ownerId: other.id, name: 'wanted 🖨' });
        await app.arrange.anAsset(workspace, { ...wanted, visibility: 'HIDDEN' });
      }
      await app.arrange.change(
        workspace,
        `INSERT INTO asset_tag (workspace_id, asset_id, tag_key_id)
         SELECT workspace_id, asset.id, tag_key.id FROM asset JOIN tag_key USING (workspace_id)
          WHERE workspace_id = $1 AND lower(name) = 'wanted 🖨' AND (key = 'wanted 🏷') = (name = 'Wanted 🖨')`,
        [workspace],
      );
    });
    /** Filters whose value several assets of one workspace can have. */
    const SHARED = ['ownerId', 'name', 'source', 'tagKey'];
    const queryOf = (parameter: string): Record<string, string> => ({ [parameter]: values[parameter] as string });
    const idsOf = (items: readonly Record<string, unknown>[]) => items.map(({ id }) => id);

    it.each(SHARED)('%s narrows a list together with other filters', async (parameter) => {
      const page = await here.page(ASSETS, { ...queryOf(parameter), categoryKey: 'COMPUTER', hasDescription: 'false' });

      expect(idsOf(page.results)).toEqual(matching.filter((_, index) => index % 2 === 0));
      expect(page.pageInfo.totalCount).toBe(3);
    });

    it.each(SHARED)('%s narrows a stream as well', async (parameter) => {
      const query = new URLSearchParams(queryOf(parameter)).toString();
      const reader = await StreamReader.open(app.origin, `${ASSETS}?${query}`, await app.arrange.aToken(workspace));
      const { lines } = await reader.read();

      expect(lines[0]).toMatchObject({ type: 'start', totalCount: matching.length });
      expect(lines.flatMap(({ asset }) => (asset ? [(asset as { id: string }).id] : []))).toEqual(matching);
    });

    it('externalId finds an asset by an id as long as an import takes it', async () => {
      const elsewhere = await app.arrange.aWorkspace();
      const externalId = 'é'.repeat(1_024);
      const computer = { type: 'COMPUTER', columns: { external_id: externalId } } as const;
      const { id } = await app.arrange.anAsset(elsewhere, computer);
      const there = await app.arrange.aClient(elsewhere);

      for (const path of [ASSETS, '/v1/computers']) {
        expect(idsOf((await there.page(path, { externalId })).results)).toEqual([id]);
      }
    });

    it.each(EXACT)('%s returns an empty page when nothing has the value', async (parameter) => {
      const page = await here.page(ASSETS, { [parameter]: NOBODY });
      expect([page.results, page.pageInfo.totalCount]).toEqual([[], 0]);
    });

    it.each(SHARED)('%s finds nothing of another workspace', async (parameter) => {
      const page = await client.page(ASSETS, queryOf(parameter));
      expect([page.results, page.pageInfo.totalCount]).toEqual([[], 0]);
    });

    it.each(SHARED)('%s must equal that of the cursor', async (parameter) => {
      const { pageInfo } = await here.page(ASSETS, { ...queryOf(parameter), pageSize: '2' });
      const next = { pageCursor: pageInfo.endCursor as string };

      const kept = await here.page(ASSETS, next);
      const sent = await here.page(ASSETS, { ...next, ...queryOf(parameter) });
      const changed = await here.get(`${ASSETS}?${new URLSearchParams({ ...next, [parameter]: NOBODY }).toString()}`);

      expect(idsOf(kept.results)).toEqual(matching.slice(2));
      expect(sent).toEqual(kept);
      expect([changed.status, changed.body['code']]).toEqual([400, 'invalid_cursor']);
    });

    it('ownerId may have other letter cases beside the cursor', async () => {
      const ownerId = values['ownerId'] as string;
      const { pageInfo } = await here.page(ASSETS, { ownerId: ownerId.toUpperCase(), pageSize: '2' });

      const next = await here.page(ASSETS, { ownerId, pageCursor: pageInfo.endCursor as string });

      expect(idsOf(next.results)).toEqual(matching.slice(2));
    });

    it('tagKey finds an asset once an update sets the tag, and no longer once one removes it', async () => {
      const elsewhere = await app.arrange.aWorkspace();
      const writer = await app.arrange.aClient(elsewhere, ['all:read', 'all:write']);
      await app.arrange.aTagKey(elsewhere, 'env');
      const { id } = await app.arrange.anAsset(elsewhere);
      const found = async (query: Record<string, string> = {}) => {
        const { results, pageInfo } = await writer.page(ASSETS, { tagKey: 'env', ...query });
        return [idsOf(results), pageInfo.totalCount];
      };

      await writer.patch(`${ASSETS}/${id}`, { tags: [{ key: 'env' }], classification: 'PUBLIC' });
      expect([await found(), await found({ classification: 'PUBLIC' })]).toEqual([
        [[id], 1],
        [[id], 1],
      ]);
      await writer.patch(`${ASSETS}/${id}`, { classification: 'INTERNAL' });
      expect([await found({ classification: 'PUBLIC' }), await found({ classification: 'INTERNAL' })]).toEqual([
        [[], 0],
        [[id], 1],
      ]);
      await writer.patch(`${ASSETS}/${id}`, { tags: [] });
      expect(await found()).toEqual([[], 0]);
    });

    it('externalId matches every source, or the one of source', async () => {
      const ids: string[] = [];
      for (const source of ['first', 'second']) {
        const columns = { source, external_id: 'arn:1' };
        ids.push((await app.arrange.anAsset(workspace, { columns })).id);
      }
      const ofEvery = await here.page(ASSETS, { externalId: 'arn:1' });
      const ofOne = await here.page(ASSETS, { externalId: 'arn:1', source: 'second' });

      expect([idsOf(ofEvery.results), ofEvery.pageInfo.totalCount]).toEqual([ids, 2]);
      expect([idsOf(ofOne.results), ofOne.pageInfo.totalCount]).toEqual([ids.slice(1), 1]);
    });

    it('email with a space gives 400, which says how to send a plus sign', async () => {
      const { body } = await app
        .client(await app.arrange.aToken(await app.arrange.aWorkspace()))
        .get(`${ASSETS}?email=ada+eu@example.com`);

      expect(body).toMatchObject({
        code: 'validation_failed',
        errors: [{ parameter: 'email', detail: expect.stringContaining('%2B') as string }],
      });
    });

    it('serialNumber finds only computers, and email only employees', async () => {
      const columns = { serial_number: 'C02XK', email: 'grace@example.com' };
      const computer = await app.arrange.anAsset(workspace, { type: 'COMPUTER', columns });
      const employee = await app.arrange.anAsset(workspace, { type: 'EMPLOYEE', columns });

      const bySerial = await here.page(ASSETS, { serialNumber: 'C02XK' });
      const byEmail = await here.page(ASSETS, { email: 'grace@example.com' });

      expect([idsOf(bySerial.results), idsOf(byEmail.results)]).toEqual([[computer.id], [employee.id]]);
    });

    it('email finds every employee with the address, whatever its letter case', async () => {
      const employees: string[] = [];
      for (const email of ['Grace.Hopper@Example.com', 'grace.hopper@example.com']) {
        employees.push((await app.arrange.anAsset(workspace, { type: 'EMPLOYEE', columns: { email } })).id);
      }

      const { results, pageInfo } = await here.page(ASSETS, { email: 'GRACE.HOPPER@example.com' });

      expect([idsOf(results), pageInfo.totalCount]).toEqual([employees, 2]);
    });

    it('ownerVisible=false finds what employees who left still own', async () => {
      const own = await app.arrange.aWorkspace();
      const client = await app.arrange.aClient(own);
      const [stays, leaves] = [
        await app.arrange.anAsset(own, { type: 'EMPLOYEE' }),
        await app.arrange.anAsset(own, { type: 'EMPLOYEE' }),
      ];
      const ownedBy = (owner: string) =>
        app.arrange.anAsset(own, { type: 'COMPUTER', columns: { owner_id: owner, owner_source: 3 } });
      const [kept, left] = [await ownedBy(stays.id), await ownedBy(leaves.id)];
      await app.arrange.anAsset(own);
      const found = async (path: string, ownerVisible: string) => {
        const { results, pageInfo } = await client.page(path, { ownerVisible });
        return [idsOf(results), pageInfo.totalCount];
      };
      expect(await found(ASSETS, 'false')).toEqual([[], 0]);
      await app.arrange.change(own, 'UPDATE asset SET visibility = 1 WHERE public_id = $1', [leaves.id]);

      for (const path of [ASSETS, '/v1/computers']) {
        expect(await found(path, 'false')).toEqual([[left.id], 1]);
        expect(await found(path, 'true')).toEqual([[kept.id], 1]);
      }
      const contradiction = await client.page(ASSETS, { ownerVisible: 'false', hasOwner: 'false' });
      expect(contradiction.pageInfo.totalCount).toBe(0);
    });

    it('page through values of 256 four-byte characters, which cursors hold', async () => {
      const name = '🖨'.repeat(256);
      const ids: string[] = [];
      for (let index = 0; index < 3; index += 1) ids.push((await app.arrange.anAsset(workspace, { name })).id);

      const walked = await here.walk(ASSETS, { name, pageSize: '1' });

      expect(idsOf(walked)).toEqual(ids);
      const { pageInfo } = await here.page(ASSETS, { name, pageSize: '1' });
      const alone = await here.page(ASSETS, { pageCursor: String(pageInfo.endCursor) });
      expect(idsOf(alone.results)).toEqual(ids.slice(1));
    });
  });
});
