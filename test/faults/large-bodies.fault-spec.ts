import { randomUUID } from 'node:crypto';
import { ApiUnderWatch } from '../support/api-under-watch';
import { SPECIFIED_LIMITS } from '../support/start-app';
import { type TestDatabase, createTestDatabase } from '../support/test-database';
import { AS_STARTED, MOST_GROWTH_MB, growthOf } from './memory';
import { MINUTE, tell } from './sizes';

const APPLICATIONS = 2;
/** The burst of one application. */
const REQUESTS = 40;

/** A body with more values than any request has is not kept while the request waits. */
describe('Bodies of 256 KiB with 87,000 objects', () => {
  let database: TestDatabase;
  let api: ApiUnderWatch;
  beforeAll(async () => {
    database = await createTestDatabase();
    api = await ApiUnderWatch.start(database, { ...AS_STARTED, ...SPECIFIED_LIMITS });
  });
  afterAll(async () => {
    await api.stop();
    await database.drop();
  });

  it(
    'grow the process by at most 200 MB while another request has their key',
    async () => {
      const workspace = await api.arrange.aWorkspace();
      const path = `/v1/inventory/assets/${(await api.arrange.anAsset(workspace)).id}`;
      const body = `{"tags":[${'{},'.repeat(87_000)}{}]}`;
      const tokens: string[] = [];
      for (let made = 0; made < APPLICATIONS; made += 1) tokens.push(await api.arrange.aToken(workspace));
      // The first requests wait until connections to Postgres are open, on a busy machine for longer than they may.
      await Promise.all(Array.from({ length: 20 }, () => api.client(tokens[0]).get('/v1/me')));
      const holder = await database.admin.connect();
      await holder.query('BEGIN');
      await holder.query('SELECT FROM asset WHERE workspace_id = $1 FOR UPDATE', [workspace]);
      const growth = growthOf(api.process.pid);

      const refusals = await Promise.all(
        tokens.map(async (token) => {
          const headers = { 'Idempotency-Key': randomUUID() };
          const client = api.client(token);
          const first = client.patch(path, { description: 'Reviewed' }, headers);
          const others = Array.from({ length: REQUESTS - 1 }, () => client.patch(path, body, headers));
          const [, ...refused] = await Promise.all([first, ...others]);
          return refused.map(({ status, body: { detail } }) => `${status} ${String(detail)}`);
        }),
      );
      const grown = growth();
      await holder.query('ROLLBACK');
      holder.release();

      tell('bodies of one key', { 'MB more': grown });
      expect(refusals.flat().filter((told) => told !== '400 The body has more than 10000 values.')).toEqual([]);
      expect(grown).toBeLessThanOrEqual(MOST_GROWTH_MB);
    },
    2 * MINUTE,
  );
});
