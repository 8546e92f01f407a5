import { Sealing } from '../support/sealing';
import { type TestApp, startApp } from '../support/start-app';
import { StreamReader, itemsOf } from '../support/stream-reader';

const EVENTS = '/v1/audit-events';
const COUNT = 900;
/** A page ends with the event that reaches two megabytes. */
const MOST_BYTES = 2_400_000;

describe('Audit events with long texts', () => {
  let app: TestApp;
  let sealing: Sealing;
  let token: string;
  let clientId: string;

  beforeAll(async () => {
    app = await startApp();
    sealing = await Sealing.of(app);
    const workspace = await app.arrange.aWorkspace();
    const ids = await app.arrange.manyAssets(workspace, 100);
    token = await app.arrange.aToken(workspace);
    const { rows } = await app.database.admin.query<{ id: string }>('SELECT client_id AS id FROM application');
    clientId = rows[0]?.id as string;
    for (let done = 0; done < COUNT; done += 100) {
      const patch = { description: `${done}${'🔥'.repeat(490)}` };
      expect((await app.client(token).patch('/v1/inventory/assets', { ids, patch })).status).toBe(200);
    }
    await sealing.seal();
  });
  afterAll(async () => {
    await sealing.close();
    await app.stop();
  });

  it.each(['', '&action=asset.updated', '&clientId=CLIENT&action=asset.updated'])(
    'make pages short, and each event comes once: %s',
    async (filters) => {
      const given = filters.replace('CLIENT', clientId);
      const seen: unknown[] = [];
      let [query, pages] = [`pageSize=1000${given}`, 0];
      for (let hasMore = true; hasMore; pages += 1) {
        const { status, text, body } = await app.client(token).get(`${EVENTS}?${query}`);
        expect([status, Buffer.byteLength(text) < MOST_BYTES]).toEqual([200, true]);
        const page = body as unknown as {
          readonly results: readonly { readonly sequence: number }[];
          readonly pageInfo: { readonly hasNextPage: boolean };
          readonly resumeCursor: string;
        };
        seen.push(...page.results.map(({ sequence }) => sequence));
        hasMore = page.pageInfo.hasNextPage;
        query = `pageSize=1000&pageCursor=${page.resumeCursor}`;
      }

      expect(pages).toBeGreaterThan(1);
      expect(seen).toEqual(Array.from({ length: COUNT }, (_, place) => place + 1));
    },
  );

  it('come once each in a stream', async () => {
    const { lines } = await (await StreamReader.open(app.origin, EVENTS, token)).read();

    expect(itemsOf(lines, 'event')).toHaveLength(COUNT);
    expect(lines.at(-1)).toEqual({ type: 'end', count: COUNT });
  });
});
