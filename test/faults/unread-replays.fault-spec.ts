import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiUnderWatch } from '../support/api-under-watch';
import { SPECIFIED_LIMITS } from '../support/start-app';
import { type TestDatabase, createTestDatabase } from '../support/test-database';
import { AS_STARTED, MOST_GROWTH_MB, growthOf } from './memory';
import { MINUTE, sized, tell } from './sizes';

/** The burst of writes of one application. */
const REQUESTS = 40;
const SECONDS = sized({ short: 2, long: 8 });

/** The responses of writes count as those of reads do. */
describe('An update whose response has 5 MB', () => {
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
    'grows the process by at most 200 MB when 40 requests with one key leave it unread',
    async () => {
      const workspace = await api.arrange.aWorkspace();
      const { id } = await api.arrange.anAsset(workspace);
      await api.arrange.longTags(workspace, '\u0001');
      const token = await api.arrange.aToken(workspace);
      const body = '{"description":"Reviewed"}';
      const head =
        `PATCH /v1/inventory/assets/${id} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n` +
        `Idempotency-Key: ${randomUUID()}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
      const growth = growthOf(api.process.pid);

      const sockets = Array.from({ length: REQUESTS }, () => connect(api.port, '127.0.0.1').pause());
      for (const socket of sockets) socket.on('error', () => undefined).write(`${head}\r\n${body}`);
      await delay(SECONDS * 1_000);
      const grown = growth();
      sockets.forEach((socket) => socket.destroy());

      tell('unread replays', { 'MB more': grown });
      expect(grown).toBeLessThanOrEqual(MOST_GROWTH_MB);
    },
    MINUTE,
  );
});
