import { ApiUnderWatch } from '../support/api-under-watch';
import { type TestDatabase, createTestDatabase } from '../support/test-database';
import { AS_STARTED, MOST_GROWTH_MB, growthOf } from './memory';
import { MINUTE, tell } from './sizes';

const BULK = '/v1/inventory/assets';

/** An update reads the tags of the assets that get others, and at most 10 MB of them. */
describe('A bulk update of 100 assets with 900 tags of 1,000 characters', () => {
  let database: TestDatabase;
  let api: ApiUnderWatch;
  let workspace: string;
  let ids: string[];
  beforeAll(async () => {
    database = await createTestDatabase();
    api = await ApiUnderWatch.start(database, AS_STARTED);
    workspace = await api.arrange.aWorkspace();
    ids = await api.arrange.manyAssets(workspace, 100);
    await api.arrange.longTags(workspace);
  }, MINUTE);
  afterAll(async () => {
    await api.stop();
    await database.drop();
  });

  it.each([{ dryRun: false }, { dryRun: true }])(
    'grows the process by at most 200 MB (dry run: $dryRun)',
    async ({ dryRun }) => {
      const client = api.client(await api.arrange.aToken(workspace));
      const growth = growthOf(api.process.pid);
      const updated = await client.patch(BULK, { ids, patch: { description: 'Reviewed' }, dryRun });
      const grown = growth();
      tell(dryRun ? 'dry run' : 'update', { 'MB more': grown });
      expect([updated.status, updated.body]).toMatchObject([200, { successfulUpdates: 100 }]);
      expect(grown).toBeLessThanOrEqual(MOST_GROWTH_MB);
      const { body } = await client.get(`${BULK}/${ids[0]}`);
      expect(body['tags']).toHaveLength(900);
    },
    MINUTE,
  );

  it.each([
    { what: 'one asset', tagged: 1, status: 200 },
    { what: 'all assets', tagged: 100, status: 413 },
    { what: 'as many assets as it may', tagged: 10, status: 200 },
    { what: 'one asset more', tagged: 11, status: 413 },
  ])(
    'grows the process by at most 200 MB with tags for $what',
    async ({ what, tagged, status }) => {
      await api.arrange.aTagKey(workspace, what);
      const patchOf = (place: number) => (place < tagged ? { tags: [{ key: what }] } : { description: what });
      const updates = ids.map((id, place) => ({ id, patch: patchOf(place) }));
      const client = api.client(await api.arrange.aToken(workspace));
      const growth = growthOf(api.process.pid);
      const updated = await client.patch(BULK, { updates });
      const grown = growth();
      tell(what, { 'MB more': grown });
      expect([updated.status, updated.body['code']]).toEqual([
        status,
        status === 413 ? 'payload_too_large' : undefined,
      ]);
      const keysOf = async (id?: string) =>
        ((await client.get(`${BULK}/${id}`)).body['tags'] as { key: string }[]).map(({ key }) => key);
      expect((await keysOf(ids[0])).includes(what)).toBe(status === 200);
      expect(await keysOf(ids[99])).toHaveLength(900);
      expect(grown).toBeLessThanOrEqual(MOST_GROWTH_MB);
    },
    MINUTE,
  );
});
