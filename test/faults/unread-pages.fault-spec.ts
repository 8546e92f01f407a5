import { once } from 'node:events';
import { type IncomingMessage, get } from 'node:http';
import { type Socket, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiUnderWatch } from '../support/api-under-watch';
import { type TestDatabase, createTestDatabase } from '../support/test-database';
import { until } from '../support/until';
import { AS_STARTED, MOST_GROWTH_MB, growthOf } from './memory';
import { IS_LONG, MINUTE, sized, tell } from './sizes';

const ROWS = sized({ short: 1_000, long: 5_000 });
const SECONDS = sized({ short: 2, long: 8 });
const LIST = '/v1/inventory/assets?pageSize=100';

/** Large assets do not fill the memory, whether their pages are read or not. */
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

/** Large results come in turns. Each case has a process that has not grown yet. */
describe('100 assets with 900 tags of 1,000 characters', () => {
  let database: TestDatabase;
  let api: ApiUnderWatch;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  beforeEach(async () => {
    api = await ApiUnderWatch.start(database, AS_STARTED);
  });
  afterEach(() => api.stop());
  afterAll(() => database.drop());

  const ASSET = '/v1/inventory/assets';
  // JSON escapes a control character by six.
  const short = [
    { what: 'pages of ten', character: 'k', pathOf: () => `${ASSET}?pageSize=10` },
    {
      what: 'assets as of now',
      character: '\u0001',
      pathOf: (id: string) => `${ASSET}/${id}?asOf=${new Date().toISOString()}`,
    },
  ];
  const others = [
    { what: 'pages of a hundred', character: 'k', pathOf: () => LIST },
    { what: 'assets', character: '\u0001', pathOf: (id: string) => `${ASSET}/${id}` },
  ];
  it.each(IS_LONG ? [...short, ...others] : short)(
    'do not fill the memory by 100 $what at once that are read',
    async ({ what, character, pathOf }) => {
      const workspace = await api.arrange.aWorkspace();
      const ids = await api.arrange.manyAssets(workspace, 100);
      await api.arrange.longTags(workspace, character);
      const token = await api.arrange.aToken(workspace);
      const growth = growthOf(api.process.pid);

      const responses = await Promise.all(ids.map((id) => read(pathOf(id), token)));
      const grown = growth();

      const refused = responses.filter(({ status }) => status !== 200);
      tell(what, { 'MB more': grown, refused: refused.length });
      expect(responses).toHaveLength(100);
      expect(refused.filter(({ status, retryAfter }) => ![429, 503].includes(status) || !retryAfter)).toEqual([]);
      expect(grown).toBeLessThanOrEqual(MOST_GROWTH_MB);
      // Every turn was given back.
      await until(async () => (await read(pathOf(ids[0] ?? ''), token)).status === 200);
    },
    2 * MINUTE,
  );

  async function read(path: string, token: string) {
    const headers = { Authorization: `Bearer ${token}` };
    const sent = get({ host: '127.0.0.1', port: api.port, path, agent: false, headers });
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    await once(response.resume(), 'end');
    return { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] };
  }
});
