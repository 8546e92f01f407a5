import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type TestApp, startApp } from '../support/start-app';
import type { ApiClient } from '../support/api-client';
import { StreamReader } from '../support/stream-reader';
import { someoneWaits } from '../support/waiting-sessions';

const ASSETS = '/v1/inventory/assets';
const COMPUTERS = '/v1/computers';

interface Entry {
  readonly validFrom: string;
  readonly validTo: string | null;
  readonly origin: Record<string, string> | null;
  readonly changedFields: string[];
  readonly asset: Record<string, unknown> | null;
  readonly computer: Record<string, unknown> | null;
}

describe('The history', () => {
  let app: TestApp;
  let workspace: string;
  let client: ApiClient;

  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());
  beforeEach(async () => {
    workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace);
  });

  const history = async (path: string, query: Record<string, string> = {}) => {
    const { results, pageInfo } = await client.page(`${path}/history`, query);
    return { entries: results as unknown as Entry[], pageInfo };
  };
  const patch = async (id: string, body: object): Promise<Record<string, unknown>> => {
    const response = await client.patch(`${ASSETS}/${id}`, body);
    expect(response.status).toBe(200);
    return response.body;
  };
  const set = (internalId: string, assignment: string): Promise<void> =>
    app.arrange.change(workspace, `UPDATE asset SET ${assignment} WHERE workspace_id = $1 AND id = $2`, [
      workspace,
      internalId,
    ]);
  const refusal = async (path: string) => {
    const { status, body } = await client.get(path);
    return { status, code: body['code'], errors: body['errors'] };
  };

  describe('of an asset', () => {
    it('shows each state as it was read, newest first, with who made it and what changed', async () => {
      const { id } = await app.arrange.anAsset(workspace);
      const { id: owner } = await app.arrange.anEmployee(workspace);
      const states = [(await client.get(`${ASSETS}/${id}`)).body];
      states.push(await patch(id, { ownerId: owner }));
      states.push(await patch(id, { description: 'Reviewed', classification: 'INTERNAL' }));

      const { entries, pageInfo } = await history(`${ASSETS}/${id}`);

      expect(pageInfo).toEqual({ hasNextPage: false, endCursor: null, totalCount: 3 });
      expect(entries.map(({ asset }) => asset)).toEqual([...states].reverse());
      expect(entries.map(({ changedFields }) => changedFields)).toEqual([
        ['classification', 'description'],
        ['completeStatus', 'ownerId', 'ownerSource'],
        [],
      ]);
      expect(entries[0]?.origin).toMatchObject({ type: 'API', clientId: expect.stringMatching(/^ci_/) as string });
      expect(entries[2]?.origin).toEqual({ type: 'OPERATOR' });
      const { body } = await client.get('/v1/inventory/changes');
      const change = (body['results'] as { id: string; changedAt: string }[]).find((one) => one.id === id);
      expect(entries[0]).toMatchObject({ validFrom: change?.changedAt, validTo: null });
      expect(entries.slice(1).map(({ validTo }) => validTo)).toEqual(
        entries.slice(0, -1).map(({ validFrom }) => validFrom),
      );
    });

    it('has an entry without asset for each time that it was hidden, also now', async () => {
      const { id, internalId } = await app.arrange.anAsset(workspace);
      for (const visibility of [1, 2, 0, 1]) await set(internalId, `visibility = ${visibility}`);

      const { entries, pageInfo } = await history(`${ASSETS}/${id}`);

      expect(pageInfo.totalCount).toBe(5);
      expect(entries.map(({ asset }) => asset?.['id'] ?? null)).toEqual([null, id, null, null, id]);
      expect(entries.every(({ changedFields }) => changedFields.length === 0)).toBe(true);
    });

    it('shows a state that alone is larger than a page of bytes', async () => {
      const { id, internalId } = await app.arrange.anAsset(workspace);
      const tags = JSON.stringify(
        Array.from({ length: 6_300 }, (_, n) => ({ key: `k${n}`, readOnly: false, value: '\u{1F512}'.repeat(255) })),
      );
      await set(internalId, `tags = '${tags}'`);
      await patch(id, { description: 'Reviewed' });

      const { entries, pageInfo } = await history(`${ASSETS}/${id}`);
      const rest = await history(`${ASSETS}/${id}`, { pageCursor: pageInfo.endCursor as string });

      expect([pageInfo.hasNextPage, pageInfo.totalCount]).toEqual([true, 3]);
      const changed = [...entries, ...rest.entries].map(({ changedFields }) => changedFields);
      expect(changed).toEqual([['description'], ['tags'], []]);
    });

    it('pages without gaps while the asset changes', async () => {
      const { id } = await app.arrange.anAsset(workspace);
      for (const description of ['one', 'two', 'three', 'four']) await patch(id, { description });
      const seen: unknown[] = [];
      let query: Record<string, string> = { pageSize: '1' };
      for (let page = 1; ; page += 1) {
        const { entries, pageInfo } = await history(`${ASSETS}/${id}`, query);
        seen.push(...entries.map(({ asset, changedFields }) => [asset?.['description'], ...changedFields]));
        await patch(id, { classification: page % 2 === 0 ? 'PUBLIC' : 'INTERNAL' });
        if (!pageInfo.hasNextPage) break;
        query = { pageSize: page === 1 ? '1' : '2', pageCursor: pageInfo.endCursor as string };
      }
      expect(seen).toEqual([
        ['four', 'description'],
        ['three', 'description'],
        ['two', 'description'],
        ['one', 'description'],
        [null],
      ]);
    });

    it('has no entry for a check-in, and shows none that came after a state', async () => {
      const columns = { last_checked_at: '2026-01-01T00:00:00Z' };
      const { id, internalId } = await app.arrange.anAsset(workspace, { columns });
      await patch(id, { description: 'one' });
      await set(internalId, `last_checked_at = now() + interval '1 hour'`);
      await patch(id, { description: 'two' });

      const { entries } = await history(`${ASSETS}/${id}`);

      expect(entries.map(({ asset }) => asset?.['lastCheckedAt'])).toEqual([
        expect.stringMatching(/^20/),
        null,
        '2026-01-01T00:00:00.000Z',
      ]);
      expect(entries.map(({ changedFields }) => changedFields)).toEqual([['description'], ['description'], []]);
    });

    it('is not found for an id that was never visible or is another workspace’s', async () => {
      const elsewhere = await app.arrange.aWorkspace();
      const ids = [
        randomUUID(),
        (await app.arrange.anAsset(workspace, { visibility: 'HIDDEN' })).id,
        (await app.arrange.anAsset(elsewhere)).id,
      ];
      for (const id of ids) {
        expect(await refusal(`${ASSETS}/${id}/history`)).toMatchObject({ status: 404, code: 'not_found' });
      }
      expect(await refusal(`${ASSETS}/x/history`)).toMatchObject({ status: 400 });
    });

    it('refuses a cursor of another asset, other parameters, and a client without the scope', async () => {
      const [one, other] = [await app.arrange.anAsset(workspace), await app.arrange.anAsset(workspace)];
      for (const { id } of [one, other]) await patch(id, { description: 'one' });
      const { pageInfo } = await history(`${ASSETS}/${one.id}`, { pageSize: '1' });

      const path = `${ASSETS}/${other.id}/history`;
      expect(await refusal(`${path}?pageCursor=${pageInfo.endCursor}`)).toMatchObject({ code: 'invalid_cursor' });
      expect(await refusal(`${path}?pageSize=101`)).toMatchObject({ errors: [{ parameter: 'pageSize' }] });
      expect(await refusal(`${path}?expand=owner`)).toMatchObject({ errors: [{ parameter: 'expand' }] });
      const reader = await app.arrange.aClient(workspace, ['computers:read']);
      expect((await reader.get(path)).status).toBe(403);
      // Another kind of asset.
      expect((await reader.get(`${COMPUTERS}/${other.id}/history`)).status).toBe(404);
    });
  });

  describe('of a computer', () => {
    it('shows its posture as it was, and changes of the asset alone without fields', async () => {
      const posture = { agent_version: '2.4.0', antivirus_installed: true, screen_lock_enabled: false };
      const { id } = await app.arrange.anAsset(workspace, { type: 'COMPUTER', posture });
      const states = [(await client.get(`${COMPUTERS}/${id}`)).body];
      await patch(id, { description: 'of the asset alone' });
      states.push((await client.get(`${COMPUTERS}/${id}`)).body);
      const { id: owner } = await app.arrange.anEmployee(workspace);
      await patch(id, { ownerId: owner });
      states.push((await client.get(`${COMPUTERS}/${id}`)).body);

      const { entries } = await history(`${COMPUTERS}/${id}`);

      expect(entries.map(({ computer }) => computer)).toEqual([...states].reverse());
      expect(entries.map(({ changedFields }) => changedFields)).toEqual([['ownerId'], [], []]);
    });
  });

  describe('as of an instant', () => {
    const now = async (): Promise<string> => {
      const { rows } = await app.database.admin.query<{ now: Date }>('SELECT clock_timestamp() AS now');
      return (rows[0]?.now as Date).toISOString();
    };
    /** An instant that is over, with nothing else in its millisecond. */
    const instant = async (): Promise<string> => {
      await delay(2);
      const time = await now();
      await delay(2);
      return time;
    };
    const at = async (path: string, asOf: string, query = '') => client.get(`${path}?asOf=${asOf}${query}`);
    const streamed = async (path: string, query: string) => {
      const { lines } = await (await StreamReader.open(app.origin, `${path}?${query}`, token)).read();
      return {
        start: lines[0],
        end: lines.at(-1),
        items: lines.flatMap(({ asset, computer }) => asset ?? computer ?? []),
      };
    };
    let token: string;
    beforeEach(async () => {
      token = await app.arrange.aToken(workspace);
    });

    it('shows by id and in streams what a read showed then, and nothing that was hidden or not yet there', async () => {
      const { id: owner, internalId: employee } = await app.arrange.anEmployee(workspace);
      const [one, other] = [
        await app.arrange.anAsset(workspace, { type: 'COMPUTER', posture: { agent_version: '2.4.0' } }),
        await app.arrange.anAsset(workspace, { visibility: 'HIDDEN' }),
      ];
      const paths = [ASSETS, COMPUTERS].flatMap((path) => [one, other].map(({ id }) => `${path}/${id}?expand=owner`));
      const reads = async (query = '') =>
        Promise.all(paths.map(async (path) => (await client.get(`${path}${query}`)).body));
      const listed = async () => [
        (await streamed(ASSETS, 'expand=owner')).items,
        (await streamed(COMPUTERS, '')).items,
      ];
      const moments: [instant: string, read: unknown[], listed: unknown[]][] = [];
      const remember = async (): Promise<void> => void moments.push([await instant(), await reads(), await listed()]);
      await remember();
      await patch(one.id, { ownerId: owner, description: 'one' });
      await remember();
      await set(employee, `name = 'Ada Lovelace', email = 'lovelace@example.com'`);
      await set(other.internalId, 'visibility = 0');
      await remember();
      await set(one.internalId, 'visibility = 1');
      await remember();
      await set(employee, 'visibility = 2');
      await app.arrange.anAsset(workspace);
      await remember();

      for (const [asOf, read, items] of moments) {
        const comparable = (bodies: unknown[]) => bodies.map((body) => ({ ...(body as object), requestId: null }));
        expect(comparable(await reads(`&asOf=${asOf}`))).toEqual(comparable(read));
        const then = [
          (await streamed(ASSETS, `expand=owner&asOf=${asOf}`)).items,
          (await streamed(COMPUTERS, `asOf=${asOf}`)).items,
        ];
        expect(then).toEqual(items);
      }
    });

    it('shows at the millisecond of changes what the last one of them made', async () => {
      const { id } = await app.arrange.anAsset(workspace);
      for (const description of ['one', 'two']) await patch(id, { description });
      const together =
        'UPDATE change_set SET changed_at = (SELECT changed_at FROM change_head WHERE workspace_id = $1)';
      await app.arrange.change(workspace, `${together} WHERE workspace_id = $1`, [workspace]);
      const [newest] = (await history(`${ASSETS}/${id}`)).entries;

      const asOf = newest?.validFrom as string;
      expect((await at(`${ASSETS}/${id}`, asOf)).body['description']).toBe('two');
      await patch(id, { description: 'three' });
      expect((await at(`${ASSETS}/${id}`, asOf)).body['description']).toBe('two');
    });

    it('keeps the order of changes when the clock of Postgres goes back', async () => {
      const { id } = await app.arrange.anAsset(workspace);
      await patch(id, { description: 'one' });
      for (const table of ['change_set', 'change_head']) {
        const ahead = `UPDATE ${table} SET changed_at = changed_at + interval '1 second' WHERE workspace_id = $1`;
        await app.arrange.change(workspace, ahead, [workspace]);
      }
      await patch(id, { description: 'two' });

      const [newest, before] = (await history(`${ASSETS}/${id}`)).entries;
      expect(newest?.validFrom).toBe(before?.validFrom);
      expect((await at(`${ASSETS}/${id}`, newest?.validFrom as string)).body['description']).toBe('two');
    });

    it.each([500, 60_000])('waits until a millisecond of changes is over, unless it is %d ms ahead', async (ms) => {
      const { id } = await app.arrange.anAsset(workspace);
      const ahead = new Date(Date.parse(await now()) + ms);
      for (const table of ['change_set', 'change_head']) {
        const move = `UPDATE ${table} SET changed_at = $2 WHERE workspace_id = $1`;
        await app.arrange.change(workspace, move, [workspace, ahead]);
      }
      expect((await at(`${ASSETS}/${id}`, ahead.toISOString())).status).toBe(ms < 1_000 ? 200 : 503);
      expect(Date.parse(await now()) > ahead.getTime()).toBe(ms < 1_000);
    });

    it('streams an inventory of which most is hidden now, or was hidden then', async () => {
      await app.arrange.manyAssets(workspace, 4_100, 500);
      const before = await instant();
      const hide = 'UPDATE asset SET visibility = 1 WHERE workspace_id = $1 AND external_id::int BETWEEN 5 AND 4050';
      await app.arrange.change(workspace, hide, [workspace]);
      const after = await instant();

      const namesOf = async (asOf: string): Promise<unknown[]> =>
        (await streamed(ASSETS, `asOf=${asOf}`)).items.map((asset) => (asset as Record<string, unknown>)['externalId']);
      const all = Array.from({ length: 4_100 }, (_, n) => String(n + 1));
      expect(await namesOf(before)).toEqual(all);
      expect(await namesOf(after)).toEqual([...all.slice(0, 4), ...all.slice(4_050)]);
      // Behind thousands of others.
      const { id } = await app.arrange.anAsset(workspace, { type: 'COMPUTER' });
      expect((await streamed(COMPUTERS, `asOf=${await instant()}`)).items).toMatchObject([{ id }]);
    });

    it('shows a posture as it was, and a change of it alone in both histories', async () => {
      const posture = { agent_version: '2.4.0', screen_lock_enabled: true };
      const { id, internalId } = await app.arrange.anAsset(workspace, { type: 'COMPUTER', posture });
      const path = `${COMPUTERS}/${id}`;
      const [asOf, { body: was }] = [await instant(), await client.get(path)];
      const { admin } = app.database;
      await admin.query('BEGIN');
      // As an import does: the computer after its asset.
      for (const change of [
        `UPDATE asset SET posture = posture - 1, change_id = (SELECT nextval('change_set_id')) WHERE workspace_id = $1 AND id = $2`,
        `UPDATE computer SET screen_lock_enabled = false, agent_version = '3.0.0' WHERE workspace_id = $1 AND asset_id = $2`,
      ]) {
        await app.arrange.change(workspace, change, [workspace, internalId]);
      }
      await admin.query(`SELECT take_change_ticket($1, currval('change_set_id'), 2::smallint, NULL, NULL)`, [
        workspace,
      ]);
      await admin.query('COMMIT');

      expect((await at(path, asOf)).body).toEqual(was);
      expect((await client.get(path)).body['compliance']).toMatchObject({
        agentVersion: '3.0.0',
        screenLockEnabled: false,
      });
      expect((await history(path)).entries.map(({ changedFields }) => changedFields)).toEqual([['compliance'], []]);
      const { entries } = await history(`${ASSETS}/${id}`);
      expect(entries.map(({ changedFields, origin }) => [changedFields, origin?.['type']])).toEqual([
        [[], 'IMPORT'],
        [[], 'OPERATOR'],
      ]);
    });

    it('has no ETag, and no later check-in', async () => {
      const columns = { last_checked_at: '2026-01-01T00:00:00Z' };
      const { id, internalId } = await app.arrange.anAsset(workspace, { columns });
      const asOf = await instant();
      expect((await at(`${ASSETS}/${id}`, asOf)).headers.get('ETag')).toBeNull();
      expect((await at(`${ASSETS}/${id}`, asOf)).body['lastCheckedAt']).toBe('2026-01-01T00:00:00.000Z');
      await set(internalId, 'last_checked_at = now()');
      expect((await at(`${ASSETS}/${id}`, asOf)).body['lastCheckedAt']).toBeNull();
    });

    it('refuses an instant before the history and one after now, and names the first and the last', async () => {
      const { id } = await app.arrange.anAsset(workspace);
      const path = `${ASSETS}/${id}`;
      for (const asOf of ['2020-01-01T00:00:00Z', '2999-01-01T00:00:00Z']) {
        const { status, body } = await at(path, asOf);
        expect([status, body['code']]).toEqual([400, 'validation_failed']);
        expect(body['errors']).toEqual([expect.objectContaining({ parameter: 'asOf', code: 'range' })]);
        const named = /\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(body['detail'] as string)?.[0] as string;
        expect([200, 404]).toContain((await at(path, named)).status);
        const stream = await client.get(`${ASSETS}?asOf=${asOf}`, { headers: { Accept: 'application/x-ndjson' } });
        expect(stream.status).toBe(400);
      }
      expect((await at(path, await now())).status).toBe(200);
      expect((await at(path, 'yesterday')).status).toBe(400);
      // Cut down to the millisecond.
      const last = await instant();
      expect((await at(path, last.replace('Z', '999999Z'))).status).toBe(200);
    });

    it('begins with the millisecond in which the workspace was created', async () => {
      const { rows } = await app.database.admin.query<{ id: string; created: Date }>(
        `INSERT INTO workspace (slug, name, created_at)
         SELECT slug, slug, date_trunc('milliseconds', now()) + interval '900 microseconds' FROM concat('w-', $1::text) AS slug
         RETURNING id, date_trunc('milliseconds', created_at) AS created`,
        [randomUUID().slice(0, 8)],
      );
      const { id, created } = rows[0] as { id: string; created: Date };
      const path = `${ASSETS}/${randomUUID()}?asOf=`;

      client = await app.arrange.aClient(id);
      expect(await refusal(`${path}${created.toISOString()}`)).toMatchObject({ status: 404 });
      const before = new Date(created.getTime() - 1);
      expect(await refusal(`${path}${before.toISOString()}`)).toMatchObject({ errors: [{ parameter: 'asOf' }] });
    });

    it('waits for a change that is being committed, and never shows half of it', async () => {
      const [one, other] = [await app.arrange.anAsset(workspace), await app.arrange.anAsset(workspace)];
      // The only connection of the test.
      const { admin } = app.database;
      await admin.query('BEGIN');
      const ticket = `SELECT take_change_ticket($1, currval('change_set_id'), 3::smallint, NULL, NULL)`;
      const both = `description = 'both', change_id = (SELECT nextval('change_set_id'))`;
      await app.arrange.change(workspace, `UPDATE asset SET ${both} WHERE workspace_id = $1`, [workspace]);
      await admin.query(ticket, [workspace]);
      await delay(2);
      const asOf = await now();
      const read = at(`${ASSETS}/${one.id}`, asOf);
      await delay(50);
      await admin.query('COMMIT');

      expect((await read).body['description']).toBe('both');
      expect((await at(`${ASSETS}/${other.id}`, asOf)).body['description']).toBe('both');
    });

    it('waits for a change without holding up the streams of other workspaces', async () => {
      const elsewhere = await app.arrange.aToken(await app.arrange.aWorkspace());
      const asOf = await instant();
      const { admin } = app.database;
      await admin.query('BEGIN');
      await admin.query(`SELECT pg_advisory_xact_lock(hashtextextended('change_ticket ' || $1, 0))`, [workspace]);
      const waiting = streamed(ASSETS, `asOf=${asOf}`);
      await someoneWaits(app.database);

      const { lines } = await (await StreamReader.open(app.origin, ASSETS, elsewhere)).read();
      await admin.query('COMMIT');

      expect(lines.at(-1)).toEqual({ type: 'end', count: 0 });
      expect((await waiting).end).toEqual({ type: 'end', count: 0 });
    });

    it('is a stream of its own: start, checkpoints and filters', async () => {
      await app.arrange.manyAssets(workspace, 1_002);
      const { id } = await app.arrange.anEmployee(workspace);
      const asOf = await instant();
      await patch((await client.page(ASSETS)).results[0]?.['id'] as string, { description: 'later' });

      const whole = await StreamReader.open(app.origin, `${ASSETS}?asOf=${asOf}`, token);
      const { lines } = await whole.read();
      expect(lines[0]).toEqual({ type: 'start', asOf });
      expect(lines.at(-1)).toEqual({ type: 'end', count: 1_003 });
      const checkpoint = lines.find(({ type }) => type === 'checkpoint') as unknown as { pageCursor: string };
      for (const query of ['', `&asOf=${asOf}`, `&asOf=${asOf.replace('Z', '999-00:00')}`]) {
        const rest = await streamed(ASSETS, `pageCursor=${checkpoint.pageCursor}${query}`);
        expect(rest).toMatchObject({ start: { type: 'start', asOf, resumed: true }, end: { count: 1_003 } });
        expect(rest.items).toHaveLength(3);
      }
      const accept = { headers: { Accept: 'application/x-ndjson' } };
      const other = await client.get(`${ASSETS}?pageCursor=${checkpoint.pageCursor}&asOf=${await now()}`, accept);
      expect(other.body['code']).toBe('invalid_cursor');

      expect((await streamed(ASSETS, `categoryKey=EMPLOYEE&asOf=${asOf}`)).items).toMatchObject([{ id }]);
      const filtered = await client.get(`${ASSETS}?asOf=${asOf}&hasOwner=true`, accept);
      expect(filtered.body['errors']).toEqual([expect.objectContaining({ parameter: 'hasOwner' })]);
      const page = await client.get(`${ASSETS}?asOf=${asOf}`);
      expect([page.status, page.body['errors']]).toEqual([400, [expect.objectContaining({ parameter: 'asOf' })]]);
      expect(page.body['detail']).toContain('application/x-ndjson');
    });
  });
});
