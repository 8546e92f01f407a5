import { once } from 'node:events';
import { randomInt } from 'node:crypto';
import { type Socket, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiUnderWatch } from '../support/api-under-watch';
import { type TestDatabase, createTestDatabase } from '../support/test-database';
import { type TestApp, startApp } from '../support/start-app';
import { NDJSON, type StreamLine, StreamReader, itemsOf } from '../support/stream-reader';

const ASSETS = '/v1/inventory/assets';
/** V8 of Node 24 collects old objects later. Both stay within 200 MB for streams of any length. */
const MOST_MEGABYTES = Number.parseInt(process.versions.node, 10) < 24 ? 80 : 140;

describe('A cut stream', () => {
  let app: TestApp;
  let workspace: string;
  let token: string;
  let large: string;

  beforeAll(async () => {
    app = await startApp();
    large = await app.arrange.aWorkspace();
    await app.arrange.manyAssets(large, 20_000, 400);
  });
  afterAll(() => app.stop());
  beforeEach(async () => {
    workspace = await app.arrange.aWorkspace();
    token = await app.arrange.aToken(workspace);
  });

  const idsOf = async (visibility: string): Promise<string[]> => {
    const { rows } = await app.database.admin.query<{ id: string }>(
      `SELECT public_id AS id FROM asset WHERE workspace_id = $1 AND visibility = 0 AND ${visibility} ORDER BY id`,
      [workspace],
    );
    return rows.map(({ id }) => id);
  };
  /** The lines of a request whose stream was cut. */
  const logged = async (wanted: string): Promise<unknown[]> => {
    const lines = () => app.logLines.filter(({ requestId }) => requestId === wanted);
    for (const deadline = Date.now() + 60_000; lines().length < 3 && Date.now() < deadline;) await delay(20);
    return lines();
  };

  it('resumes from its last checkpoint without losing or repeating a row during writes', async () => {
    await app.arrange.manyAssets(workspace, 6_500);
    const before = await idsOf('true');
    let isWriting = true;
    const writing = (async () => {
      for (let round = 0; isWriting; round += 1) {
        await app.arrange.anAsset(workspace, { name: `new ${round}` });
        await app.arrange.change(
          workspace,
          `UPDATE asset SET classification = (classification + 1) % 4, visibility = CASE WHEN random() < 0.02 THEN 1 ELSE visibility END
           WHERE workspace_id = $1 AND id IN (SELECT id FROM asset WHERE workspace_id = $1 ORDER BY random() LIMIT 20)`,
          [workspace],
        );
      }
    })();

    const kept: StreamLine[] = [];
    let cursor: string | null = null;
    let cuts = 0;
    for (let isWhole = false; !isWhole; cuts += isWhole ? 0 : 1) {
      const path = cursor === null ? ASSETS : `${ASSETS}?pageCursor=${cursor}`;
      const reader = await StreamReader.open(app.origin, path, token);
      const { lines } = await reader.read(randomInt(1, 3_500));
      isWhole = lines.at(-1)?.type === 'end';
      expect(lines[0]).toMatchObject(cursor === null ? { type: 'start' } : { type: 'start', resumed: true });
      const last = isWhole ? lines.length - 1 : lines.findLastIndex(({ type }) => type === 'checkpoint');
      kept.push(...lines.slice(0, last + 1));
      if (last >= 0 && !isWhole) cursor = lines[last]?.['pageCursor'] as string;
    }
    isWriting = false;
    await writing;

    const ids = itemsOf(kept, 'asset').map(({ id }) => id);
    const throughout = new Set(await idsOf('true'));
    expect(cuts).toBeGreaterThan(0);
    expect(new Set(ids).size).toBe(ids.length);
    expect(before.filter((id) => throughout.has(id) && !ids.includes(id))).toEqual([]);
    expect(kept.at(-1)).toEqual({ type: 'end', count: ids.length });
  });

  it('lacks the end line when the database fails, and logs the error', async () => {
    const reader = await StreamReader.open(app.origin, ASSETS, await app.arrange.aToken(large), {
      'X-Request-Id': 'cut-by-database',
    });
    reader.response.pause();
    await app.database.admin.query('ALTER TABLE asset RENAME TO asset_away');
    try {
      const { lines, isWhole } = await reader.read();

      expect(isWhole).toBe(false);
      expect(lines.some(({ type }) => type === 'end')).toBe(false);
      expect(await logged('cut-by-database')).toMatchObject([
        { message: 'stream begun', resource: 'assets' },
        { message: 'request aborted', status: null },
        { message: 'stream cut', resource: 'assets', outcome: 'failed', error: { code: '42P01' } },
      ]);
    } finally {
      await app.database.admin.query('ALTER TABLE asset_away RENAME TO asset');
    }
  });

  it('is a problem response when the database fails before the first line', async () => {
    await app.database.admin.query('ALTER TABLE asset RENAME TO asset_away');
    try {
      const response = await fetch(app.origin + ASSETS, {
        headers: { Accept: NDJSON, Authorization: `Bearer ${token}` },
      });

      expect([response.status, response.headers.get('Content-Type')]).toEqual([500, 'application/problem+json']);
    } finally {
      await app.database.admin.query('ALTER TABLE asset_away RENAME TO asset');
    }
  });

  it('ends after thirty seconds in which the client reads nothing', async () => {
    const ended = () => app.logLines.filter(({ message }) => message === 'stream cut').at(-1);
    const before = ended();
    const since = performance.now();
    const socket = await stalledStream(app.port, await app.arrange.aToken(large));
    for (const deadline = Date.now() + 90_000; ended() === before && Date.now() < deadline;) await delay(20);
    const seconds = (performance.now() - since) / 1_000;
    socket.destroy();

    expect(ended()).toMatchObject({ resource: 'assets', outcome: 'stalled' });
    expect(ended()?.['rows']).toBeLessThan(20_000);
    expect(seconds).toBeGreaterThanOrEqual(30);
    // Node alone would see the silence after sixty.
    expect(seconds).toBeLessThan(45);
  });

  it('releases its connections at once when the client disconnects', async () => {
    const reader = await StreamReader.open(app.origin, ASSETS, await app.arrange.aToken(large), {
      'X-Request-Id': 'left-by-client',
    });
    reader.response.pause();
    reader.leave();

    expect(await logged('left-by-client')).toMatchObject([
      { message: 'stream begun' },
      { message: 'request aborted', status: null },
      { message: 'stream cut', outcome: 'disconnected' },
    ]);
  });
});

describe('A stream on an instance', () => {
  let database: TestDatabase;
  let api: ApiUnderWatch;
  let workspace: string;
  let token: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    api = await ApiUnderWatch.start(database);
    workspace = await api.arrange.aWorkspace();
    await api.arrange.manyAssets(workspace, 40_000, 300);
  });
  afterAll(async () => {
    await api.stop();
    await database.drop();
  });
  beforeEach(async () => {
    token = await api.arrange.aToken(workspace);
  });

  const open = (from = api, bearer = token): Promise<StreamReader> =>
    StreamReader.open(`http://127.0.0.1:${from.port}`, ASSETS, bearer);
  const residentMegabytes = async (): Promise<number> =>
    ((await api.samples()).get('process_resident_memory_bytes') ?? NaN) / 1e6;

  it('counts rows and outcomes in metrics, and keeps memory flat', async () => {
    const before = await residentMegabytes();
    let most = 0;
    const reader = await open();
    let rows = 0;
    for await (const { type } of reader.lines()) {
      if (type === 'asset') rows += 1;
      if (rows % 10_000 === 9_999) most = Math.max(most, await residentMegabytes());
    }

    expect(rows).toBe(40_000);
    expect(most - before).toBeLessThan(MOST_MEGABYTES);
    expect(await api.sample('compliance_streams_total{outcome="complete"}', (value) => value > 0)).toBe(1);
    expect((await api.samples()).get('compliance_stream_rows_total')).toBe(40_000);
    expect((await api.samples()).get('compliance_streams_under_way')).toBe(0);
    expect(await api.linesSaying(/^stream/, 2)).toMatchObject([
      { message: 'stream begun', resource: 'assets' },
      { message: 'stream complete', level: 'info', resource: 'assets', rows: 40_000 },
    ]);
  });

  it('keeps memory flat when the client stops reading', async () => {
    const before = await residentMegabytes();
    const socket = await stalledStream(api.port, token);
    await api.sample('compliance_streams_under_way', (value) => value === 1);
    await delay(5_000);

    const grown = (await residentMegabytes()) - before;
    const isUnderWay = (await api.samples()).get('compliance_streams_under_way');
    socket.destroy();
    const [cut] = await api.linesSaying(/^stream cut$/, 1);

    expect(isUnderWay).toBe(1);
    expect(grown).toBeLessThan(60);
    expect(cut?.['rows']).toBeLessThan(30_000);
  });

  it('lacks the end line on a graceful stop, and does not delay it', async () => {
    const stopping = await ApiUnderWatch.start(database);
    try {
      const reader = await open(stopping, await stopping.arrange.aToken(workspace));
      reader.response.pause();
      const since = performance.now();
      stopping.process.signal('SIGTERM');

      expect(await stopping.process.exitCode()).toBe(0);
      const { isWhole } = await reader.read();

      expect(performance.now() - since).toBeLessThan(20_000);
      expect(isWhole).toBe(false);
      expect(await stopping.linesSaying(/^stream cut$/, 1)).toMatchObject([{ outcome: 'stopped' }]);
    } finally {
      await stopping.stop();
    }
  });

  it('lacks the end line when the instance is killed', async () => {
    const reader = await open();
    reader.response.pause();
    await api.process.kill();

    const { lines, isWhole } = await reader.read();

    expect(isWhole).toBe(false);
    expect(lines.some(({ type }) => type === 'end')).toBe(false);
  });
});

/** Begins a stream whose client reads nothing. */
async function stalledStream(port: number, token: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.pause();
  socket.write(`GET ${ASSETS} HTTP/1.1\r\nHost: a\r\nAccept: ${NDJSON}\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  return socket;
}
