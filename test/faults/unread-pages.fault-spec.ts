import { type Socket, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiUnderWatch } from '../support/api-under-watch';
import { type TestDatabase, createTestDatabase } from '../support/test-database';
import { AS_STARTED, MOST_GROWTH_MB, growthOf } from './memory';
import { MINUTE, sized, tell } from './sizes';

const ROWS = sized({ short: 1_000, long: 5_000 });
const SECONDS = sized({ short: 3, long: 8 });
const LIST = '/v1/inventory/assets?pageSize=100';

/** P22: large assets do not fill the memory, whether their pages are read or not. */
describe('Assets with 50 tags', () => {
  let database: TestDatabase;
  let api: ApiUnderWatch;
  let workspace: string;
  let withLongTags: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    api = await ApiUnderWatch.start(database, AS_STARTED);
    workspace = await api.arrange.aWorkspace();
    await api.arrange.manyAssets(workspace, ROWS);
    await tagAssets(workspace, 8);
    withLongTags = await api.arrange.aWorkspace();
    await api.arrange.manyAssets(withLongTags, 100);
    await tagAssets(withLongTags, 31);
    const client = api.client(await api.arrange.aToken(workspace));
    for (let asked = 0; asked < 10; asked += 1) await client.get('/v1/inventory/changes?pageSize=10');
  });
  afterAll(async () => {
    await api.stop();
    await database.drop();
  });

  /** Gives all assets of a workspace 50 tags. Their keys have `hashes` times 32 characters. */
  async function tagAssets(id: string, hashes: number): Promise<void> {
    const tags = `(SELECT jsonb_agg(jsonb_build_object('key', n || repeat(md5(n::text || id), $2), 'value', '', 'readOnly', true))
                     FROM generate_series(1, 50) AS n)`;
    await api.arrange.change(id, `UPDATE asset SET tags = ${tags} WHERE workspace_id = $1`, [id, hashes]);
  }

  it.each([
    { fault: '40 pages of changes that nobody reads', requests: 40, path: '/v1/inventory/changes?pageSize=1000' },
    { fault: '40 pages of a list that nobody reads', requests: 40, path: LIST },
    { fault: '40 pages of 5 MB that nobody reads', requests: 40, path: LIST, hasLongTags: true },
    { fault: '8 streams', requests: 8, path: '/v1/inventory/assets', accept: 'application/x-ndjson', isRead: true },
  ])(
    'do not fill the memory by $fault',
    async ({ fault, requests, path, accept = 'application/json', isRead = false, hasLongTags = false }) => {
      const tokens: string[] = [];
      for (let request = 0; request < requests; request += 1) {
        tokens.push(await api.arrange.aToken(hasLongTags ? withLongTags : workspace));
      }
      const growth = growthOf(api.process.pid);

      const sockets = tokens.map((token) => ask(path, accept, token, isRead));
      await delay(SECONDS * 1_000);
      const grown = growth();
      sockets.forEach((socket) => socket.destroy());

      tell(fault, { 'MB more': grown });
      expect(grown).toBeLessThanOrEqual(MOST_GROWTH_MB);
    },
    2 * MINUTE,
  );

  function ask(path: string, accept: string, token: string, isRead: boolean): Socket {
    const socket = connect(api.port, '127.0.0.1').on('error', () => undefined);
    if (isRead) socket.resume();
    else socket.pause();
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAccept: ${accept}\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    return socket;
  }
});
