import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { ApiUnderWatch } from '../support/api-under-watch';
import { SPECIFIED_LIMITS } from '../support/start-app';
import { type TestDatabase, createTestDatabase } from '../support/test-database';
import { until } from '../support/until';
import { AS_STARTED, MOST_GROWTH_MB, growthOf } from './memory';
import { IS_LONG, MINUTE, sized, tell } from './sizes';

const ASSET = '/v1/inventory/assets';
/** In the long form the burst of writes of one application. */
const REQUESTS = sized({ short: 16, long: 40 });

interface Update {
  readonly path: string;
  readonly body: object;
  readonly key: string;
}

/** Large updates run, and large replays are read, one at a time. Each case has a process that has not grown yet. */
describe('Assets with many tags of 1,000 characters', () => {
  let database: TestDatabase;
  let api: ApiUnderWatch;
  let workspace: string;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => api.stop());
  afterAll(() => database.drop());

  const start = async (limits = {}): Promise<void> => {
    // Tokens of the first process are valid at the second one.
    api = await ApiUnderWatch.start(database, { ...AS_STARTED, BASE_URL: 'http://api.example.test', ...limits });
  };

  /** JSON escapes a control character by six, and V8 keeps a text with a euro sign in two bytes for each character. */
  const ESCAPED = { character: '\u0001', sign: '€' };
  /** A record of an import has no longer tags. */
  const LONGEST = 1_000;
  const someAssets = async (count: number, { character = 'k', sign = '', tagged = 900 }): Promise<string[]> => {
    workspace = await api.arrange.aWorkspace();
    await api.arrange.aTagKey(workspace, 'env');
    const ids = await api.arrange.manyAssets(workspace, count);
    await api.arrange.longTags(workspace, character, sign, tagged);
    return ids;
  };

  const each = async (patch: object, form = {}): Promise<Update[]> =>
    (await someAssets(REQUESTS, form)).map((id) => ({ path: `${ASSET}/${id}`, body: patch, key: randomUUID() }));
  const bulk = async (size: number, form = {}): Promise<Update[]> => {
    const ids = await someAssets(size * REQUESTS, form);
    return Array.from({ length: REQUESTS }, (_, place) => ({
      path: ASSET,
      body: { updates: ids.slice(size * place, size * (place + 1)).map((id) => ({ id, patch: tags })) },
      key: randomUUID(),
    }));
  };

  const send = async ({ path, body, key }: Update, token: string, isRead = true) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'Idempotency-Key': key };
    const sent = request({ host: '127.0.0.1', port: api.port, path, method: 'PATCH', agent: false, headers });
    sent.end(JSON.stringify(body));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    if (isRead) await once(response.resume(), 'end');
    return { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], response };
  };

  const tags = { tags: [{ key: 'env' }] };
  const short = [{ what: 'updates of their tags', updates: () => each(tags) }];
  const others = [
    { what: 'updates of their escaped tags', updates: () => each(tags, { ...ESCAPED, tagged: LONGEST }) },
    { what: 'replays', updates: () => each({ description: 'Reviewed' }, ESCAPED), isReplayed: true },
    { what: 'updates that are not read', updates: () => each({ description: 'Reviewed' }, ESCAPED), isRead: false },
    { what: 'bulk updates of nine', updates: () => bulk(9) },
    { what: 'bulk updates of two with escaped tags', updates: () => bulk(2, { ...ESCAPED, tagged: 820 }) },
  ];
  it.each<{ what: string; updates: () => Promise<Update[]>; isReplayed?: boolean; isRead?: boolean }>(
    IS_LONG ? [...short, ...others] : short,
  )(
    'do not fill the memory by as many $what at once as one application may send',
    async ({ what, updates, isReplayed = false, isRead = true }) => {
      await start();
      const sent = await updates();
      const token = await api.arrange.aToken(workspace);
      if (isReplayed) for (const update of sent) expect((await send(update, token)).status).toBe(200);
      await api.stop();
      await start(SPECIFIED_LIMITS);
      const growth = growthOf(api.process.pid);

      const said = await Promise.all(sent.map((update) => send(update, token, isRead)));
      const grown = growth();
      said.forEach(({ response }) => response.destroy());

      const refused = said.flatMap(({ status, retryAfter }) => (status === 200 ? [] : [`${status} ${retryAfter}`]));
      tell(what, { 'MB more': grown, refused: refused.length });
      expect(said).toHaveLength(REQUESTS);
      expect(refused.filter((one) => !/^(429|503) \d+$/.test(one))).toEqual([]);
      expect(grown).toBeLessThanOrEqual(MOST_GROWTH_MB);
      // Every turn was given back.
      await until(async () => (await send(sent.at(-1) as Update, token)).status === 200);
    },
    2 * MINUTE,
  );
});
