import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import canonicalize from 'canonicalize';
import { type AuditEvent, ComplianceClient } from '#libs/client';
import type { ApiClient, ApiResponse } from '../support/api-client';
import { Sealing } from '../support/sealing';
import { type TestApp, startApp } from '../support/start-app';

interface ListBody {
  readonly results: AuditEvent[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly resumeCursor: string;
  readonly lagSeconds: number;
}

describe('GET /v1/audit-events', () => {
  let app: TestApp;
  let sealing: Sealing;
  let workspace: string;
  let asset: string;
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
    asset = (await app.arrange.anAsset(workspace)).id;
  });

  const get = (query = '', by = client): Promise<ApiResponse> => by.get(`/v1/audit-events${query}`);
  const page = async (query = '', by = client): Promise<ListBody> => {
    const response = await get(query, by);
    expect([response.status, response.status === 200 ? '' : response.text]).toEqual([200, '']);
    return response.body as unknown as ListBody;
  };
  /** Every page from a query on. */
  const follow = async (query: string, pageSize = 2): Promise<{ events: AuditEvent[]; cursor: string }> => {
    const events: AuditEvent[] = [];
    for (let body = await page(`${query}${query === '' ? '?' : '&'}pageSize=${pageSize}`); ;) {
      events.push(...body.results);
      if (!body.pageInfo.hasNextPage) return { events, cursor: body.resumeCursor };
      expect(body.pageInfo.endCursor).toBe(body.resumeCursor);
      body = await page(`?pageSize=${pageSize}&pageCursor=${body.resumeCursor}`);
    }
  };
  const update = async (id = asset, by = client, body: object = { description: randomUUID() }): Promise<string> => {
    const response = await by.patch(`/v1/inventory/assets/${id}`, body);
    expect(response.status).toBe(200);
    return response.headers.get('x-request-id') ?? '';
  };
  const updateAndSeal = async (count: number): Promise<void> => {
    for (let turn = 0; turn < count; turn += 1) await update();
    await sealing.seal();
  };
  const sequences = (events: readonly AuditEvent[]): number[] => events.map(({ sequence }) => sequence);
  const from = (first: number, last: number): number[] =>
    Array.from({ length: last - first + 1 }, (_, place) => first + place);

  it('returns actor, target, old and new values, and a hash that anybody can compute', async () => {
    await app.arrange.aTagKey(workspace, 'env');
    const requestId = await update(asset, client, { classification: 'PUBLIC', tags: [{ key: 'env' }] });
    await sealing.seal();

    const { results, pageInfo, lagSeconds } = await page();

    expect(results).toHaveLength(1);
    const { leafHash, ...event } = results[0] as AuditEvent;
    expect(event).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/) as string,
      sequence: 1,
      occurredAt: expect.stringMatching(/Z$/) as string,
      recordedAt: expect.stringMatching(/Z$/) as string,
      action: 'asset.updated',
      actor: { type: 'APPLICATION', clientId: expect.stringMatching(/^ci_/) as string, name: null, personId: null },
      target: { type: 'ASSET', id: asset },
      request: { id: requestId },
      changes: [
        { field: 'classification', old: 'UNKNOWN', new: 'PUBLIC' },
        { field: 'tags', old: [], new: ['env'] },
      ],
    });
    expect(event.recordedAt >= event.occurredAt).toBe(true);
    expect(leafHash).toBe(
      createHash('sha256')
        .update(`\0${canonicalize(event) ?? ''}`)
        .digest('hex'),
    );
    expect(pageInfo).toEqual({ hasNextPage: false, endCursor: null });
    expect(lagSeconds).toBe(0);
  });

  it('returns sealed events only, and the age of the oldest unsealed one', async () => {
    await updateAndSeal(1);
    // Nobody can seal the workspace behind an altered checkpoint.
    await app.arrange.change(workspace, `UPDATE audit_checkpoint SET mac = sha256('') WHERE workspace_id = $1`, [
      workspace,
    ]);
    await update();
    await app.arrange.change(
      workspace,
      `UPDATE audit_event SET occurred_at = now() - interval '90 s' WHERE workspace_id = $1 AND sequence IS NULL`,
      [workspace],
    );

    const body = await page();

    expect(sequences(body.results)).toEqual([1]);
    expect(body.lagSeconds).toBeGreaterThanOrEqual(90);
    expect(body.lagSeconds).toBeLessThan(120);
    await app.arrange.change(workspace, 'DELETE FROM audit_event WHERE workspace_id = $1 AND sequence IS NULL', [
      workspace,
    ]);
  });

  it('returns every event once, in order and without gaps, while more are sealed', async () => {
    await updateAndSeal(3);
    const seen: number[] = [];
    let cursor: string | null = null;
    for (let turn = 0; turn < 30; turn += 1) {
      if (turn % 3 === 0 && turn < 20) await update();
      if (turn % 5 === 0) await sealing.seal();
      const body: ListBody = await page(`?pageSize=2${cursor === null ? '' : `&pageCursor=${cursor}`}`);
      seen.push(...sequences(body.results));
      cursor = body.resumeCursor;
    }

    expect(seen).toEqual(from(1, 10));
  });

  it('continues from any earlier cursor, and returns nothing until something happens', async () => {
    await updateAndSeal(3);
    const { events, cursor } = await follow('');
    expect(sequences(events)).toEqual([1, 2, 3]);
    expect((await page(`?pageCursor=${cursor}`)).results).toEqual([]);

    await updateAndSeal(2);

    expect(sequences((await page(`?pageCursor=${cursor}`)).results)).toEqual([4, 5]);
    const first = await page('?pageSize=1');
    expect(sequences((await page(`?pageCursor=${first.resumeCursor}`)).results)).toEqual([2, 3, 4, 5]);
  });

  it('links the next page', async () => {
    await updateAndSeal(2);

    const response = await get('?pageSize=1');

    const cursor = (response.body as unknown as ListBody).resumeCursor;
    expect(response.headers.get('link')).toBe(
      `<https://api.example.test/v1/audit-events?pageSize=1&pageCursor=${cursor}>; rel="next"`,
    );
  });

  it('returns no older event for since=now, and starts at a given time', async () => {
    await updateAndSeal(2);
    const now = await page('?since=now');
    expect(now.results).toEqual([]);
    expect(now.pageInfo).toEqual({ hasNextPage: false, endCursor: null });
    await updateAndSeal(2);

    expect(sequences((await page(`?pageCursor=${now.resumeCursor}`)).results)).toEqual([3, 4]);
    const [, , third] = (await follow('')).events as [AuditEvent, AuditEvent, AuditEvent];
    expect(sequences((await follow(`?since=${third.recordedAt}`, 1)).events)).toEqual([3, 4]);
    expect(sequences((await page(`?until=${third.recordedAt}`)).results)).toEqual([1, 2]);
    expect((await page(`?since=${third.recordedAt}&until=${third.recordedAt}`)).results).toEqual([]);
    expect(sequences((await page('?since=2000-01-01T00:00:00Z')).results)).toEqual([1, 2, 3, 4]);
    expect((await page('?since=2999-01-01T00:00:00Z')).results).toEqual([]);
    expect((await page('?until=2000-01-01T00:00:00Z')).results).toEqual([]);
    expect((await page('?since=now')).results).toEqual([]);
  });

  it('returns nothing that was recorded before a since in the future', async () => {
    await updateAndSeal(1);
    const since = new Date(Date.now() + 4_000).toISOString();
    const first = await page(`?since=${since}`);
    await updateAndSeal(2);
    const early = await page(`?pageCursor=${first.resumeCursor}`);
    expect(new Date().toISOString() < since).toBe(true);
    expect([first, early].map(({ results }) => results)).toEqual([[], []]);

    await delay(Date.parse(since) - Date.now() + 10);
    await updateAndSeal(2);

    for (const { resumeCursor } of [first, early]) {
      const { results } = await page(`?pageCursor=${resumeCursor}`);
      expect(sequences(results)).toEqual([4, 5]);
      expect(results.every(({ recordedAt }) => recordedAt >= since)).toBe(true);
    }
  });

  it('compares since and until exactly, even with more digits than recordedAt has', async () => {
    await updateAndSeal(1);
    const [{ recordedAt }] = (await page()).results as [AuditEvent];
    const justAfter = recordedAt.replace('Z', '0001Z');

    expect(sequences((await page(`?until=${justAfter}`)).results)).toEqual([1]);
    expect((await page(`?since=${justAfter}`)).results).toEqual([]);
    expect(sequences((await page('?until=9999-12-31T23:59:59.9999Z')).results)).toEqual([1]);
  });

  it('applies until to every page', async () => {
    await updateAndSeal(3);
    const [, , { recordedAt }] = (await page('?since=2000-01-01T00:00:00Z')).results as [
      AuditEvent,
      AuditEvent,
      AuditEvent,
    ];
    await updateAndSeal(2);
    const until = new Date(Date.parse(recordedAt) + 1).toISOString();

    expect(sequences((await follow(`?until=${until}`, 1)).events)).toEqual([1, 2, 3]);
  });

  it('filters by action, application, asset and request, which combine with AND', async () => {
    const other = await app.arrange.aClient(workspace);
    const otherAsset = (await app.arrange.anAsset(workspace)).id;
    const requests = [await update(), await update(otherAsset), await update(asset, other), await update()];
    await sealing.seal();
    const { events } = await follow('');
    const clients = events.map(({ actor }) => actor.clientId ?? '');
    const found = async (query: string): Promise<number[]> => sequences((await follow(`?${query}`, 1)).events);

    expect(await found('action=asset.updated')).toEqual([1, 2, 3, 4]);
    expect(await found('action=none')).toEqual([]);
    expect(await found(`assetId=${asset.toUpperCase()}`)).toEqual([1, 3, 4]);
    expect(await found(`clientId=${clients[0]}`)).toEqual([1, 2, 4]);
    expect(await found(`requestId=${requests[1]}`)).toEqual([2]);
    expect(await found(`clientId=${clients[0]}&assetId=${asset}`)).toEqual([1, 4]);
    expect(await found(`clientId=${clients[2]}&assetId=${otherAsset}`)).toEqual([]);
    expect(await found(`requestId=${requests[3]}&action=asset.updated&clientId=${clients[3]}`)).toEqual([4]);
    expect(await found(`assetId=${randomUUID()}`)).toEqual([]);
  });

  it('returns 400 for a cursor of other filters', async () => {
    await updateAndSeal(2);
    const { resumeCursor } = await page(`?assetId=${asset}&pageSize=1`);

    expect(sequences((await page(`?pageCursor=${resumeCursor}`)).results)).toEqual([2]);
    expect(sequences((await page(`?pageCursor=${resumeCursor}&assetId=${asset}`)).results)).toEqual([2]);
    for (const filter of [`assetId=${randomUUID()}`, 'action=asset.updated', 'until=2999-01-01T00:00:00Z']) {
      expect((await get(`?pageCursor=${resumeCursor}&${filter}`)).body).toMatchObject({ code: 'invalid_cursor' });
    }
  });

  it.each([
    ['pageSize=1001', 'pageSize'],
    ['pageSize=0', 'pageSize'],
    ['since=yesterday', 'since'],
    ['until=now', 'until'],
    ['until=2026-02-30T00:00:00Z', 'until'],
    ['assetId=1', 'assetId'],
    ['action=', 'action'],
    ['action=%00', 'action'],
    ['clientId=ci_1%00', 'clientId'],
    ['requestId=%00', 'requestId'],
    [`requestId=${'é'.repeat(65)}`, 'requestId'],
    ['requestId=1&requestId=2', 'requestId'],
    ['limit=1', 'limit'],
  ])('refuses %s', async (query, parameter) => {
    const response = await get(`?${query}`);

    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ code: 'validation_failed', errors: [{ parameter }] });
  });

  it('refuses since together with a cursor', async () => {
    const { resumeCursor } = await page('?since=now');

    expect((await get(`?since=now&pageCursor=${resumeCursor}`)).body).toMatchObject({ code: 'validation_failed' });
  });

  it('requires audit:read or all:read', async () => {
    const auditor = await app.arrange.aClient(workspace, ['audit:read']);
    const reader = await app.arrange.aClient(workspace, ['inventory:read', 'all:write']);

    expect((await get('', auditor)).status).toBe(200);
    const refused = await get('', reader);
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toContain('scope="audit:read"');
  });

  it('hides other workspaces and refuses their cursors', async () => {
    await updateAndSeal(2);
    const { resumeCursor } = await page('?pageSize=1');
    const stranger = await app.arrange.aClient(await app.arrange.aWorkspace());

    expect(await page('', stranger)).toMatchObject({ results: [], lagSeconds: 0 });
    expect((await page(`?assetId=${asset}`, stranger)).results).toEqual([]);
    expect((await get(`?pageCursor=${resumeCursor}`, stranger)).body).toMatchObject({ code: 'invalid_cursor' });
  });

  it('returns 410 when the event of the cursor is gone, as after a restored backup', async () => {
    await updateAndSeal(2);
    const before = await page('?pageSize=1');
    const { resumeCursor } = await page();
    for (const sql of [
      'DELETE FROM audit_event WHERE workspace_id = $1 AND sequence = 2',
      'DELETE FROM audit_checkpoint WHERE workspace_id = $1 AND size = 2',
    ]) {
      await app.arrange.change(workspace, sql, [workspace]);
    }

    const response = await get(`?pageCursor=${resumeCursor}`);

    expect(response.status).toBe(410);
    expect(response.body).toMatchObject({ code: 'cursor_expired', errors: [{ code: 'diverged' }] });
    expect((await get(`?pageCursor=${before.resumeCursor}`)).status).toBe(200);
  });

  it('lets the client continue from a stored cursor', async () => {
    await updateAndSeal(3);
    let cursor: string | null = null;
    const cursorStore = {
      read: () => Promise.resolve(cursor),
      write: (next: string) => Promise.resolve(void (cursor = next)),
    };
    const credentials = await app.arrange.anApplication(workspace, ['audit:read']);
    const api = new ComplianceClient({ baseUrl: app.origin, ...credentials });
    const follow = async (): Promise<number[]> => {
      const seen: number[] = [];
      for await (const { sequence } of api.auditEvents({ action: 'asset.updated', pageSize: 2 }, { cursorStore })) {
        seen.push(sequence);
      }
      return seen;
    };

    expect(await follow()).toEqual([1, 2, 3]);
    await updateAndSeal(1);
    expect(await follow()).toEqual([4]);
  });

  it('reads a bounded number of events for a page with several filters, and continues after them', async () => {
    await updateAndSeal(1);
    await app.arrange.change(
      workspace,
      `INSERT INTO audit_event (workspace_id, id, occurred_at, asset_id, application_id, client_id, request_id, key_hash,
              changes, mac, sequence)
       SELECT $1, gen_random_uuid(), now(), asset_id, application_id, client_id, request_id, key_hash, changes, mac,
              n
         FROM audit_event, generate_series(2, 2500) AS n WHERE workspace_id = $1 AND sequence = 1`,
      [workspace],
    );
    await app.arrange.change(
      workspace,
      'UPDATE audit_checkpoint SET size = 2500 WHERE workspace_id = $1 AND size = 1',
      [workspace],
    );
    await app.arrange.change(
      workspace,
      'UPDATE audit_event SET client_id = $2 WHERE workspace_id = $1 AND sequence = 2500',
      [workspace, 'ci_rare'],
    );

    const query = `?assetId=${asset}&clientId=ci_rare&pageSize=10`;
    const pages: number[][] = [];
    let body = await page(query);
    for (; body.pageInfo.hasNextPage; body = await page(`?pageCursor=${body.resumeCursor}`)) {
      pages.push(sequences(body.results));
    }
    pages.push(sequences(body.results));

    expect(pages).toEqual([[], [], [2500]]);
  });
});
