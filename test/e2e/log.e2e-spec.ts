import { randomBytes, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { connect } from 'node:net';
import { once } from 'node:events';
import type { ApiResponse, ApiClient } from '../support/api-client';
import { ApiUnderWatch } from '../support/api-under-watch';
import type { ArrangedApplication } from '../support/arrangement';
import { type TestDatabase, createTestDatabase } from '../support/test-database';

const word = () => randomBytes(8).toString('hex');
const delay = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('The request log', () => {
  let database: TestDatabase;
  let api: ApiUnderWatch;
  let workspace: string;
  let application: ArrangedApplication;
  let client: ApiClient;
  let token: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    api = await ApiUnderWatch.start(database, { LOG_LEVEL: 'debug' });
    workspace = await api.arrange.aWorkspace();
    application = await api.arrange.anApplication(workspace);
    token = (await api.client().requestToken(credentials())).body['access_token'] as string;
    client = api.client(token);
  });
  afterAll(async () => {
    await api.stop();
    await database.drop();
  });

  const credentials = () => ({
    grant_type: 'client_credentials',
    client_id: application.clientId,
    client_secret: application.clientSecret,
  });
  /** Returns the log lines of one request once its access line exists. */
  const linesOf = async (requestId: string): Promise<Record<string, unknown>[]> => {
    for (const deadline = Date.now() + 60_000; ; await delay(20)) {
      const lines = api.logLines.filter((line) => line['requestId'] === requestId);
      if (lines.some(({ message }) => String(message).startsWith('request'))) return lines;
      if (Date.now() > deadline) throw new Error(`No line of ${requestId}`);
    }
  };
  const lineOf = async (response: ApiResponse): Promise<Record<string, unknown>> => {
    const lines = await linesOf(response.headers.get('x-request-id') as string);
    expect(lines.filter(({ message }) => message === 'request')).toHaveLength(1);
    return lines.find(({ message }) => message === 'request') as Record<string, unknown>;
  };
  const raw = async (text: string): Promise<string> => {
    const socket = connect(api.port, '127.0.0.1');
    let response = '';
    socket.on('data', (chunk: Buffer) => (response += chunk.toString())).on('error', () => undefined);
    socket.end(text);
    await once(socket, 'close');
    return response;
  };

  it('has one line per request: client, route, outcome, duration, sizes', async () => {
    const response = await client.get(`/v1/inventory/assets/${randomUUID()}?x=y`);
    expect(await lineOf(response)).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      requestId: response.headers.get('x-request-id'),
      method: 'GET',
      route: '/v1/inventory/assets/:id',
      status: response.status,
      code: response.body['code'],
      workspaceId: workspace,
      clientId: application.clientId,
      durationMs: expect.any(Number) as number,
      bytes: Buffer.byteLength(response.text),
      message: 'request',
    });
  });

  it('of streams is all that the process writes: Node warns of nothing', async () => {
    for (const encoding of ['identity', 'gzip']) {
      const headers = { Accept: 'application/x-ndjson', 'Accept-Encoding': encoding };
      const streamed = await client.get('/v1/inventory/assets', { headers });
      expect(await lineOf(streamed)).toMatchObject({ route: '/v1/inventory/assets', status: 200 });
    }
    expect(api.process.errors).toBe('');
  });

  it('names the authenticated client, never a claimed one', async () => {
    const issued = await api.client().requestToken(credentials());
    client = api.client((token = issued.body['access_token'] as string));
    expect(await lineOf(issued)).toMatchObject({ route: '/oauth/token', clientId: application.clientId, status: 200 });
    const refused = await api.client().requestToken({ ...credentials(), client_secret: 'wrong' });
    expect(await lineOf(refused)).toMatchObject({ clientId: null, code: 'invalid_client' });
  });

  it('counts sent bytes even without Content-Length', async () => {
    for (const path of ['/v1/health', '/docs/openapi.json', '/docs', '/docs/swagger-ui.css', '/problems', '/nowhere']) {
      const response = await api.client().get(path);
      expect([path, (await lineOf(response))['bytes']]).toEqual([path, Buffer.byteLength(response.text)]);
    }
    const head = await api.client().send('HEAD', '/v1/health');
    expect((await lineOf(head))['bytes']).toBe(0);
  });

  it('has a line for a malformed request, and for a client that disconnected', async () => {
    const [, refusedId = ''] = /X-Request-Id: (\S+)/.exec(await raw('GET / HTTP/9.9\r\n\r\n')) ?? [];
    expect((await linesOf(refusedId))[0]).toMatchObject({ status: 400, code: 'validation_failed', route: null });
    const lostId = `lost-${word()}`;
    const sent = request({ port: api.port, method: 'POST', path: '/oauth/token' }).on('error', () => undefined);
    sent.setHeader('X-Request-Id', lostId);
    sent.setHeader('Content-Type', 'application/x-www-form-urlencoded');
    sent.write('grant_type=');
    setTimeout(() => sent.destroy(), 200);
    expect((await linesOf(lostId))[0]).toMatchObject({ message: 'request aborted', status: null });
  });

  it('contains no secret, token, e-mail or client data, even at debug', async () => {
    const planted = new Map<string, string>();
    const plant = (what: string, value = word()): string => {
      planted.set(what, value);
      return value;
    };
    const wrongSecret = `cs_${randomBytes(36).toString('base64url')}`;
    const form = { ...credentials(), client_secret: plant('wrong secret', wrongSecret) };
    const basic = (id: string, secret: string) => ({
      Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
    });
    plant('right secret', application.clientSecret);
    plant('right Basic', basic(application.clientId, application.clientSecret).Authorization.slice(6));
    await api.client().requestToken(form);
    await api.client().requestToken({ ...credentials(), client_id: plant('client id', 'ada@id.example.com') });
    await api.client().requestToken({ grant_type: 'client_credentials' }, basic(application.clientId, wrongSecret));
    await api
      .client()
      .requestToken({ ...credentials(), scope: plant('scope'), audience: plant('audience', 'https://aud.example/x') });
    await api.client().send('POST', `/oauth/token?client_secret=${plant('secret in the query')}`, {
      body: new URLSearchParams(credentials()),
    });
    const issued = await api
      .client()
      .requestToken({ grant_type: 'client_credentials' }, basic(application.clientId, application.clientSecret));
    plant('token before', token);
    client = api.client(plant('token', issued.body['access_token'] as string));
    await api.client(token).get('/v1/computers');
    await api.client(`${plant('token that is none', `eyJhbGciOiJub25lIn0.${word()}.${word()}`)}`).get('/v1/computers');
    await client.get(`/v1/inventory/assets?pageCursor=${plant('cursor')}`);
    await client.get(`/v1/inventory/assets?${plant('parameter')}=${plant('value', 'ada@query.example.com')}`);
    await client.get(`/v1/inventory/assets/${plant('id', 'ada@path.example.com')}`);
    await client.get(`/${plant('path')}`);
    const { id } = await api.arrange.anAsset(workspace);
    const path = `/v1/inventory/assets/${id}`;
    await client.patch(path, `{"description": "${plant('bad JSON', 'ada@json.example.com')}" ${plant('bad token')}`);
    await client.patch(path, { [plant('member')]: plant('e-mail', 'ada@body.example.com') });
    await client.patch(path, { description: plant('description') }, { 'Idempotency-Key': plant('key', word()) });
    await client.patch(path, { tags: [{ key: plant('tag key') }] });
    await raw(`GET /${plant('refused path')} HTTP/9.9\r\nAuthorization: Bearer ${plant('refused token')}\r\n\r\n`);

    await database.admin.query(`
      ALTER TABLE asset ADD CHECK (description NOT LIKE 'check %');
      CREATE UNIQUE INDEX ON asset (description) WHERE description LIKE 'unique %';
      CREATE FUNCTION quote_description() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.description LIKE 'cast %' THEN PERFORM NEW.description::uuid; END IF;
        IF NEW.description LIKE 'raise %' THEN
          RAISE EXCEPTION 'not for %', substr(NEW.description, 7);
        END IF;
        IF NEW.description LIKE 'detail %' THEN
          RAISE EXCEPTION 'refused' USING DETAIL = NEW.description, HINT = NEW.description;
        END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER quote BEFORE UPDATE ON asset FOR EACH ROW EXECUTE FUNCTION quote_description()`);
    const refusedBy = async (description: string, of = path): Promise<void> => {
      const response = await client.patch(of, { description });
      const lines = await linesOf(response.headers.get('x-request-id') as string);
      expect([description, response.status, lines.map(({ level }) => level)]).toEqual([
        description,
        500,
        ['error', 'info'],
      ]);
      expect(lines[0]).toMatchObject({ error: { code: expect.stringMatching(/^(2[23]|P0)/) as string } });
    };
    const unique = `unique ${plant('value of a unique index')}`;
    await client.patch(path, { description: unique });
    await refusedBy(unique, `/v1/inventory/assets/${(await api.arrange.anAsset(workspace)).id}`);
    await refusedBy(`check ${plant('value of a check')}`);
    await refusedBy(`cast ${plant('value of a cast', `Ada "the" ${word()}`)}`);
    await refusedBy(`raise ${plant('value of a message', 'ada@raise.example.com')}`);

    await refusedBy(`detail ${plant('value of a detail')}`);

    await client.get('/v1/health');
    const everything = api.process.output + api.process.errors;
    const found = [...planted].filter(([, value]) => everything.includes(value)).map(([what]) => what);
    expect(found).toEqual([]);
    expect(planted.size).toBeGreaterThan(25);
    expect(everything).toContain('"debug"');
  });
});
