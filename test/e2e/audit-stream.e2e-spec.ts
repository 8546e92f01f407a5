import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from '../support/api-client';
import { Sealing } from '../support/sealing';
import { type TestApp, startApp } from '../support/start-app';
import { type StreamLine, StreamReader, itemsOf } from '../support/stream-reader';

type Line =
  | { readonly type: 'event'; readonly event: { readonly sequence: number; readonly leafHash: string } }
  | { readonly type: 'checkpoint'; readonly pageCursor: string; readonly count: number }
  | { readonly type: 'end'; readonly count: number };

const EVENTS = 2_500;

describe('GET /v1/audit-events as NDJSON', () => {
  let app: TestApp;
  let sealing: Sealing;
  let workspace: string;
  let client: ApiClient;

  beforeAll(async () => {
    app = await startApp();
    sealing = await Sealing.of(app);
  });
  afterAll(async () => {
    await sealing.close();
    await app.stop();
  });
  beforeEach(async () => {
    workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace);
  });

  const stream = async (query = ''): Promise<Line[]> => {
    const response = await client.get(`/v1/audit-events${query}`, { headers: { Accept: 'application/x-ndjson' } });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
    return response.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
  };
  const sequencesOf = (lines: readonly Line[]): number[] =>
    lines.flatMap((line) => (line.type === 'event' ? [line.event.sequence] : []));
  const from = (first: number, last: number): number[] =>
    Array.from({ length: last - first + 1 }, (_, place) => first + place);
  /** Bulks of a hundred, which is quick. */
  const update = async (events: number): Promise<void> => {
    const ids = await app.arrange.manyAssets(workspace, 100);
    for (let done = 0; done < events; done += 100) {
      const patch = { description: `Review ${done}` };
      expect((await client.patch('/v1/inventory/assets', { ids, patch })).status).toBe(200);
    }
    await sealing.seal();
  };

  it('returns all events in order, resumes from a checkpoint, and is recorded', async () => {
    await update(EVENTS);

    const lines = await stream();

    expect(sequencesOf(lines)).toEqual(from(1, EVENTS));
    expect(lines.filter(({ type }) => type === 'checkpoint')).toMatchObject([{ count: 1000 }, { count: 2000 }]);
    expect(lines[0]?.type).toBe('event');
    expect(lines.at(-1)).toEqual({ type: 'end', count: EVENTS });

    const [checkpoint] = lines.filter((line) => line.type === 'checkpoint');
    const resumed = await stream(`?pageCursor=${checkpoint?.pageCursor}`);

    // The first stream was recorded meanwhile; the sealer may have published that.
    expect(sequencesOf(resumed).slice(0, EVENTS - 1000)).toEqual(from(1001, EVENTS));
    expect(resumed.at(-1)).toMatchObject({ type: 'end', count: expect.any(Number) as number });
    const refused = await client.get(
      `/v1/audit-events?since=2000-01-01T00:00:00Z&pageCursor=${checkpoint?.pageCursor}`,
      {
        headers: { Accept: 'application/x-ndjson' },
      },
    );
    expect(refused.body).toMatchObject({ code: 'validation_failed', errors: [{ parameter: 'since' }] });

    const recorded = async (): Promise<unknown[]> => {
      await sealing.seal();
      return (await client.get('/v1/audit-events?action=audit.exported')).body['results'] as unknown[];
    };
    let exports = await recorded();
    // A stream is recorded after its last line.
    for (const deadline = Date.now() + 30_000; exports.length < 2 && Date.now() < deadline;) exports = await recorded();
    expect(exports).toMatchObject([
      {
        sequence: EVENTS + 1,
        actor: { type: 'APPLICATION', clientId: expect.stringMatching(/^ci_/) as string, name: null, personId: null },
        target: { type: 'AUDIT', id: 'audit-events' },
        request: { id: expect.any(String) as string },
        changes: [{ field: 'rows', old: null, new: EVENTS }],
      },
      { sequence: EVENTS + 2 },
    ]);
  });

  it('accepts the filters of the list and refuses pageSize', async () => {
    await update(100);
    const now = new Date(Date.now() + 60_000).toISOString();

    expect(sequencesOf(await stream('?action=asset.updated'))).toEqual(from(1, 100));
    expect(sequencesOf(await stream(`?since=${now}`))).toEqual([]);
    expect(sequencesOf(await stream('?until=2000-01-01T00:00:00Z'))).toEqual([]);
    const refused = await client.get('/v1/audit-events?pageSize=1', { headers: { Accept: 'application/x-ndjson' } });
    expect(refused.body).toMatchObject({ code: 'validation_failed', errors: [{ parameter: 'pageSize' }] });
  });

  it('records streams of assets too, even one that was cut', async () => {
    await app.arrange.manyAssets(workspace, 20_000, 400);
    const token = await app.arrange.aToken(workspace);
    const abort = new AbortController();
    const response = await fetch(`${app.origin}/v1/inventory/assets`, {
      headers: { Accept: 'application/x-ndjson', Authorization: `Bearer ${token}` },
      signal: abort.signal,
    });
    await response.body?.getReader().read();

    abort.abort();

    for (const deadline = Date.now() + 30_000; Date.now() < deadline;) {
      await sealing.seal();
      const { body } = await client.get('/v1/audit-events?action=inventory.exported');
      const [event] = body['results'] as { target: object; changes: [{ new: number }] }[];
      if (!event) continue;
      expect(event.target).toEqual({ type: 'INVENTORY', id: 'assets' });
      expect(event.changes[0].new).toBeLessThan(20_000);
      return;
    }
    throw new Error('The stream was not recorded.');
  });

  it('is resumed without a lost or repeated event after every cut, while more are recorded', async () => {
    await update(EVENTS);
    const token = await app.arrange.aToken(workspace, ['audit:read']);
    const kept: StreamLine[] = [];
    let cursor = '';
    for (const most of [700, 1_500, 30, 1_200, Infinity]) {
      const reader = await StreamReader.open(app.origin, `/v1/audit-events${cursor && `?pageCursor=${cursor}`}`, token);
      const { lines } = await reader.read(most);
      const last = lines.findLastIndex(({ type }) => type === 'checkpoint' || type === 'end');
      kept.push(...lines.slice(0, last + 1));
      if (lines[last]?.type === 'checkpoint') cursor = String(lines[last]?.['pageCursor']);
      await sealing.seal();
      await delay(100);
    }

    const events = itemsOf(kept, 'event') as { sequence: number }[];
    expect(events.map(({ sequence }) => sequence)).toEqual(from(1, events.length));
    expect(events.length).toBeGreaterThan(EVENTS);
    expect(kept.at(-1)).toEqual({ type: 'end', count: events.length });
  });

  it('records no stream that failed before its first line', async () => {
    await app.database.admin.query('ALTER TABLE asset RENAME TO asset_away');
    try {
      const response = await client.get('/v1/inventory/assets', { headers: { Accept: 'application/x-ndjson' } });
      expect(response.status).toBe(500);
    } finally {
      await app.database.admin.query('ALTER TABLE asset_away RENAME TO asset');
    }

    await stream();

    const seen = async (): Promise<unknown[]> => {
      await sealing.seal();
      return (await client.get('/v1/audit-events')).body['results'] as unknown[];
    };
    let events = await seen();
    for (const deadline = Date.now() + 30_000; events.length === 0 && Date.now() < deadline;) events = await seen();
    expect(events).toMatchObject([{ target: { id: 'audit-events' } }]);
  });

  it('sends a checkpoint after every 1,000 rows, even when filters skip events between them', async () => {
    const { id } = await app.arrange.anAsset(workspace);
    await client.patch(`/v1/inventory/assets/${id}`, { description: 'Reviewed' });
    await sealing.seal();
    await app.arrange.change(
      workspace,
      `INSERT INTO audit_event (workspace_id, id, occurred_at, asset_id, application_id, client_id, request_id, key_hash,
              changes, mac, sequence)
       SELECT $1, gen_random_uuid(), now(), asset_id, application_id, 'ci_' || n % 2, request_id, key_hash, changes, mac,
              n
         FROM audit_event, generate_series(2, 5000) AS n WHERE workspace_id = $1 AND sequence = 1`,
      [workspace],
    );
    await app.arrange.change(
      workspace,
      'UPDATE audit_checkpoint SET size = 5000 WHERE workspace_id = $1 AND size = 1',
      [workspace],
    );

    const lines = await stream(`?assetId=${id}&clientId=ci_0`);

    const checkpoints = lines.filter((line) => line.type === 'checkpoint');
    expect(checkpoints.map(({ count }) => count)).toEqual([1000, 2000]);
    const resumed = await stream(`?pageCursor=${checkpoints[1]?.pageCursor}`);
    expect(sequencesOf(resumed)).toEqual(sequencesOf(lines).slice(2000));
    expect(resumed.at(-1)).toEqual({ type: 'end', count: 2500 });
  });
});
