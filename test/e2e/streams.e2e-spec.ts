import type { ApiClient, PageBody } from '../support/api-client';
import { type TestApp, startApp } from '../support/start-app';
import { NDJSON, StreamReader, itemsOf } from '../support/stream-reader';

const ASSETS = '/v1/inventory/assets';
const COMPUTERS = '/v1/computers';

describe('GET of a whole list as NDJSON', () => {
  let app: TestApp;
  let workspace: string;
  let token: string;
  let client: ApiClient;

  beforeAll(async () => {
    app = await startApp();
    workspace = await app.arrange.aWorkspace();
    await app.arrange.manyAssets(workspace, 2_490);
    for (let index = 0; index < 5; index += 1) {
      await app.arrange.anAsset(workspace, { type: 'COMPUTER', classification: 'PUBLIC' });
      await app.arrange.anAsset(workspace, { type: 'CLOUD_QUEUE', description: 'queue' });
    }
    token = await app.arrange.aToken(workspace);
    client = app.client(token);
  });
  afterAll(() => app.stop());

  const open = (path: string, headers: Readonly<Record<string, string>> = {}, of = token): Promise<StreamReader> =>
    StreamReader.open(app.origin, path, of, headers);
  const read = async (path: string, headers: Readonly<Record<string, string>> = {}, of = token) => {
    const reader = await open(path, headers, of);
    expect(reader.response.statusCode).toBe(200);
    return reader.read();
  };

  it.each([
    [ASSETS, 'asset'],
    [`${ASSETS}?categoryKey=CLOUD`, 'asset'],
    [`${ASSETS}?classification=PUBLIC&hasOwner=false`, 'asset'],
    [`${ASSETS}?classification=CONFIDENTIAL`, 'asset'],
    [COMPUTERS, 'computer'],
  ])('of %s returns the same rows as its pages, in the same order', async (path, item) => {
    const [route = '', query = ''] = path.split('?');
    const walked = await client.walk(route, { ...Object.fromEntries(new URLSearchParams(query)), pageSize: '100' });

    const { lines, isWhole } = await read(path);

    expect(isWhole).toBe(true);
    expect(itemsOf(lines, item)).toEqual(walked);
    expect(lines[0]).toMatchObject({ type: 'start', totalCount: walked.length });
    expect(lines[0]).not.toHaveProperty('resumed');
    expect(lines.at(-1)).toEqual({ type: 'end', count: walked.length });
  });

  it.each([ASSETS, COMPUTERS])('of %s matches the contract line by line', async (path) => {
    const { status, text } = await client.get(path, { headers: { Accept: NDJSON } });

    expect([status, text.endsWith('\n')]).toEqual([200, true]);
  });

  it('sends a checkpoint after every 1,000 rows', async () => {
    const { lines } = await read(ASSETS);

    const places = lines.flatMap((line, place) => (line.type === 'checkpoint' ? [[place, line['count']]] : []));
    expect(places).toEqual([
      [1_001, 1_000],
      [2_002, 2_000],
    ]);
  });

  it('sends a checkpoint before the end when the rows are a multiple of 1,000', async () => {
    const other = await app.arrange.aWorkspace();
    await app.arrange.manyAssets(other, 1_000);
    const reader = await app.arrange.aToken(other);

    const { lines } = await read(ASSETS, {}, reader);
    const [checkpoint, end] = lines.slice(-2);

    expect([checkpoint, end]).toMatchObject([
      { type: 'checkpoint', count: 1_000 },
      { type: 'end', count: 1_000 },
    ]);
    const resumed = await read(`${ASSETS}?pageCursor=${String(checkpoint?.['pageCursor'])}`, {}, reader);
    expect(resumed.lines).toEqual([{ type: 'start', totalCount: 1_000, resumed: true }, end]);
  });

  it('starts with the cursor from which the change feed continues', async () => {
    const other = await app.arrange.aWorkspace();
    await app.arrange.anAsset(other, { type: 'COMPUTER' });
    const reader = app.client(await app.arrange.aToken(other));
    const streams: [string, string, string][] = [
      [ASSETS, '/v1/inventory/changes', ''],
      [`${ASSETS}?categoryKey=COMPUTER&hasOwner=false`, '/v1/inventory/changes', 'categoryKey=COMPUTER&'],
      [COMPUTERS, '/v1/computers/changes', ''],
    ];
    const cursors: unknown[] = [];
    for (const [path] of streams) {
      const { text } = await reader.get(path, { headers: { Accept: NDJSON } });
      cursors.push((JSON.parse(text.split('\n', 1)[0] ?? '') as { resumeCursor?: unknown }).resumeCursor);
    }

    const { id } = await app.arrange.anAsset(other, { type: 'COMPUTER' });

    for (const [index, [, feed, query]] of streams.entries()) {
      const { status, body } = await reader.get<PageBody>(`${feed}?${query}pageCursor=${String(cursors[index])}`);
      expect([status, body.results.map((change) => change['id'])]).toEqual([200, [id]]);
    }
  });

  it('of an empty list sends start and end', async () => {
    const empty = await app.arrange.aToken(await app.arrange.aWorkspace());

    const { lines } = await read(ASSETS, {}, empty);

    expect(lines).toMatchObject([
      { type: 'start', totalCount: 0 },
      { type: 'end', count: 0 },
    ]);
  });

  it('hides other workspaces and hidden assets', async () => {
    const other = await app.arrange.aWorkspace();
    const { id } = await app.arrange.anAsset(other);
    await app.arrange.anAsset(other, { visibility: 'HIDDEN' });

    const { lines } = await read(ASSETS, {}, await app.arrange.aToken(other));

    expect(itemsOf(lines, 'asset').map((asset) => asset['id'])).toEqual([id]);
  });

  describe('Accept', () => {
    const mediaTypeFor = async (accept: string | undefined): Promise<string | null> => {
      const response = await fetch(`${app.origin}${COMPUTERS}?`, {
        headers: { Authorization: `Bearer ${token}`, ...(accept === undefined ? {} : { Accept: accept }) },
      });
      await response.text();
      expect([response.status, response.headers.get('Vary')]).toEqual([200, 'Accept, Accept-Encoding']);
      return response.headers.get('Content-Type');
    };

    it.each([
      [NDJSON],
      ['APPLICATION/X-NDJSON'],
      ['application/ndjson'],
      ['application/jsonl'],
      ['application/x-jsonlines'],
      ['application/json;q=0.5, application/jsonl'],
      [`${NDJSON}, */*`],
      [`${NDJSON}, application/json`],
      [`application/json;q=0.9, ${NDJSON}`],
      [`*/*;q=0.1, ${NDJSON};q=0.2`],
    ])('%s selects the stream', async (accept) => {
      expect(await mediaTypeFor(accept)).toBe(NDJSON);
    });

    it.each([
      [undefined],
      ['*/*'],
      ['application/*'],
      ['application/json'],
      ['text/html'],
      [`${NDJSON};q=0`],
      [`${NDJSON};q=0, */*`],
      [`application/json, ${NDJSON}`],
      [`application/json, ${NDJSON};q=0.9`],
      ['text/x-ndjson'],
      ['application/json-lines'],
      ['application/jsonl;charset=utf-8'],
      ['application/json, application/jsonl'],
      ['application/x-ndjsonx'],
      [`,;${NDJSON}/`],
    ])('%s selects a page', async (accept) => {
      expect(await mediaTypeFor(accept)).toBe('application/json; charset=utf-8');
    });
  });

  describe('parameters', () => {
    const refusal = async (path: string, of = token) => {
      const response = await fetch(app.origin + path, { headers: { Accept: NDJSON, Authorization: `Bearer ${of}` } });
      const { code, errors } = (await response.json()) as { code: string; errors?: { parameter?: string }[] };
      return [response.status, code, errors?.[0]?.parameter];
    };
    const listCursor = async (path = ASSETS): Promise<string> =>
      (await client.get<PageBody>(`${path}?pageSize=1`)).body.pageInfo.endCursor as string;
    const checkpoint = async (query = ''): Promise<string> => {
      const { lines } = await (await open(`${ASSETS}${query}`)).read(1_002);
      return lines.at(-1)?.['pageCursor'] as string;
    };

    it.each([
      ['pageSize=10', 'validation_failed', 'pageSize'],
      ['pageSize=0', 'validation_failed', 'pageSize'],
      ['no=1', 'validation_failed', 'no'],
      ['subKey=COMPUTER&categoryKey=CLOUD', 'validation_failed', 'subKey'],
      ['pageCursor=altered', 'invalid_cursor', 'pageCursor'],
    ])('refuses %s', async (query, code, parameter) => {
      expect(await refusal(`${ASSETS}?${query}`)).toEqual([400, code, parameter]);
    });

    it('refuses the cursor of a page', async () => {
      expect(await refusal(`${ASSETS}?pageCursor=${await listCursor()}`)).toEqual([
        400,
        'invalid_cursor',
        'pageCursor',
      ]);
    });

    it('refuses a checkpoint of another stream, and a page refuses it too', async () => {
      const cursor = await checkpoint();
      const stranger = await app.arrange.aToken(await app.arrange.aWorkspace());

      expect(await refusal(`${COMPUTERS}?pageCursor=${cursor}`)).toEqual([400, 'invalid_cursor', 'pageCursor']);
      expect(await refusal(`${ASSETS}?pageCursor=${cursor}`, stranger)).toEqual([400, 'invalid_cursor', 'pageCursor']);
      expect((await client.get(`${ASSETS}?pageCursor=${cursor}`)).body['code']).toBe('invalid_cursor');
    });

    it('accepts a checkpoint with the filters of its first request', async () => {
      const cursor = await checkpoint('?hasDescription=false');

      const { lines } = await read(`${ASSETS}?pageCursor=${cursor}`);

      expect(lines[0]).toEqual({ type: 'start', totalCount: 2_495, resumed: true });
      expect(lines.at(-1)).toEqual({ type: 'end', count: 2_495 });
      expect(await refusal(`${ASSETS}?hasDescription=true&pageCursor=${cursor}`)).toEqual([
        400,
        'invalid_cursor',
        'pageCursor',
      ]);
    });
  });

  it('arrives line by line through gzip', async () => {
    const plain = await read(ASSETS);
    const reader = await open(ASSETS, { 'Accept-Encoding': 'gzip' });
    const { lines, isWhole } = await reader.read();

    expect(reader.response.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept, Accept-Encoding' });
    expect(isWhole).toBe(true);
    expect(itemsOf(lines, 'asset')).toEqual(itemsOf(plain.lines, 'asset'));
  });

  it('returns the headers of GET for HEAD, without a body', async () => {
    const response = await fetch(`${app.origin}${ASSETS}`, {
      method: 'HEAD',
      headers: { Accept: NDJSON, Authorization: `Bearer ${token}` },
    });

    expect([response.status, response.headers.get('Content-Type'), await response.text()]).toEqual([200, NDJSON, '']);
  });

  it('that cannot be read has the status of GET for HEAD, too', async () => {
    const ask = async (method: string) =>
      fetch(`${app.origin}${ASSETS}?asOf=2001-01-01T00:00:00Z`, {
        method,
        headers: { Accept: NDJSON, Authorization: `Bearer ${token}` },
      });

    const [head, get] = [await ask('HEAD'), await ask('GET')];
    expect([head.status, await head.text()]).toEqual([get.status, '']);
    expect(get.status).toBeGreaterThanOrEqual(400);
  });
});
