import { type Socket, connect } from 'node:net';
import { type TestApp, startApp } from '../support/start-app';
import { StreamReader } from '../support/stream-reader';
import { until } from '../support/until';

const LIST = '/v1/inventory/assets?pageSize=100';
/** An instance holds 80 MB for all of its clients, and a page has 6 MB. */
const MOST_PAGES = 7;

describe('Responses that an application does not read', () => {
  let app: TestApp;
  let workspace: string;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    app = await startApp();
    workspace = await app.arrange.aWorkspace();
    await app.arrange.manyAssets(workspace, 100);
    const tags = `(SELECT jsonb_agg(jsonb_build_object('key', n || repeat(md5(n::text), 31), 'value', repeat('x', 255), 'readOnly', true))
                     FROM generate_series(1, 55) AS n)`;
    await app.arrange.change(workspace, `UPDATE asset SET tags = ${tags} WHERE workspace_id = $1`, [workspace]);
  });
  afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));
  afterAll(() => app.stop());

  const leaveUnread = async (token: string): Promise<void> => {
    const socket = connect(app.port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    socket.write(`GET ${LIST} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    await new Promise((resolve) => socket.once('readable', resolve));
  };

  it('make it wait for more, and neither others nor shorter responses', async () => {
    const token = await app.arrange.aToken(workspace);
    const [same, other] = [app.client(token), await app.arrange.aClient(workspace)];
    for (let page = 0; page < MOST_PAGES; page += 1) await leaveUnread(token);

    const { results } = (await other.get(LIST)).body as { results: { id: string }[] };
    for (const path of [LIST, `/v1/inventory/assets/${results[0]?.id}`]) {
      const refused = await same.get(path);
      expect(refused).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
      expect(refused.headers.get('Retry-After')).toBe('1');
      for (const name of ['Link', 'ETag']) expect(refused.headers.get(name)).toBeNull();
    }
    expect((await same.get('/v1/inventory/categories')).status).toBe(200);
    expect((await other.get(LIST)).status).toBe(200);

    sockets.splice(0).forEach((socket) => socket.destroy());
    await until(async () => (await same.get(LIST)).status === 200);
  });

  it('make its updates wait, which are not applied, and its replays', async () => {
    const token = await app.arrange.aToken(workspace);
    const same = app.client(token);
    const { results } = await same.page('/v1/inventory/assets', { pageSize: '1' });
    const path = `/v1/inventory/assets/${String(results[0]?.['id'])}`;
    const update = () => same.patch(path, { description: 'unread' }, { 'Idempotency-Key': 'unread' });
    for (const replayed of [null, 'true']) {
      for (let page = 0; page < MOST_PAGES; page += 1) await leaveUnread(token);
      const refused = await update();
      expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '1']);
      for (const name of ['ETag', 'Idempotent-Replayed']) expect(refused.headers.get(name)).toBeNull();

      sockets.splice(0).forEach((socket) => socket.destroy());
      await until(async () => (await same.get(LIST)).status === 200);
      const { status, headers, body } = await update();
      // The first time it was not applied, so it is no replay.
      expect([status, headers.get('Idempotent-Replayed'), body['description']]).toEqual([200, replayed, 'unread']);
    }
  });

  it('make its streams wait, before one takes a token of its bucket', async () => {
    const token = await app.arrange.aToken(workspace);
    const begin = async (): Promise<unknown> => {
      const reader = await StreamReader.open(app.origin, '/v1/inventory/assets', token);
      reader.leave();
      return reader.response.statusCode;
    };
    for (let page = 0; page < MOST_PAGES; page += 1) await leaveUnread(token);

    // The bucket holds four tokens.
    const refused = [await begin(), await begin(), await begin(), await begin()];
    expect(refused).toEqual([503, 503, 503, 503]);
    expect(app.logLines.map(({ message }) => message)).not.toContain('stream begun');

    sockets.splice(0).forEach((socket) => socket.destroy());
    await until(async () => (await app.client(token).get(LIST)).status === 200);
    expect(await begin()).toBe(200);
  });

  it('leave room for others however many applications leave them unread', async () => {
    for (let application = 0; application < 6; application += 1) {
      const token = await app.arrange.aToken(workspace);
      for (let page = 0; page < 3; page += 1) await leaveUnread(token);
    }
    const next = await app.arrange.aClient(workspace);

    expect((await next.get('/v1/inventory/assets?pageSize=10')).status).toBe(200);
  });
});
