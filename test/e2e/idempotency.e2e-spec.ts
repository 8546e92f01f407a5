import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiResponse, ApiClient } from '../support/api-client';
import { type TestApp, startApp } from '../support/start-app';

const ASSETS = '/v1/inventory/assets';
const path = (id: string): string => `${ASSETS}/${id}`;
const key = (value: string = randomUUID()) => ({ 'Idempotency-Key': value });

describe('Idempotency-Key', () => {
  let app: TestApp;
  let workspace: string;
  let client: ApiClient;
  beforeAll(async () => {
    app = await startApp({ DATABASE_POOL_SIZE: '1' });
    workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace);
  });
  afterAll(() => app.stop());

  const anAsset = async (): Promise<string> => (await app.arrange.anAsset(workspace)).id;
  const count = async (sql: string, values: readonly unknown[]): Promise<number> =>
    (await app.database.admin.query(sql, [...values])).rows.length;
  const auditRows = (id: string): Promise<number> => count('SELECT 1 FROM audit_event WHERE asset_id = $1', [id]);
  const records = (): Promise<number> => count('SELECT 1 FROM idempotency_record', []);
  const isReplay = ({ headers }: ApiResponse): boolean => headers.get('idempotent-replayed') === 'true';

  describe('the header', () => {
    const refused = async (headers: Record<string, string | null>, code: string): Promise<void> => {
      const response = await client.patch(path(await anAsset()), {}, headers);
      expect([response.status, response.body['code'], response.body['errors']]).toEqual([
        400,
        'validation_failed',
        [{ header: 'Idempotency-Key', code, detail: expect.any(String) as string }],
      ]);
    };

    it('is required for writes', async () => {
      await refused({ 'Idempotency-Key': null }, 'required');
      await refused(key(''), 'required');
      await refused(key('   \t '), 'required');
    });

    it('has 1 to 256 characters after trimming', async () => {
      for (const value of ['k', `  ${'k'.repeat(256)}  `, 'a key, with "marks"; and blanks']) {
        expect((await client.patch(path(await anAsset()), {}, key(value))).status).toBe(200);
      }
      await refused(key('k'.repeat(257)), 'length');
    });

    it('may contain any script but no control characters', async () => {
      const utf8 = Buffer.from('ключ-😀'.repeat(40)).toString('latin1');
      expect((await client.patch(path(await anAsset()), {}, key(utf8))).status).toBe(200);
      await refused(key('a\tb'), 'format');
      await refused(key(Buffer.from('a\u0085b').toString('latin1')), 'format');
    });

    it('differs when its bytes differ, even when they are not UTF-8', async () => {
      const keys = [
        ...[
          [0xe9, 0x72, 0x35],
          [0xc3, 0xa9, 0x72, 0x35],
          [0xe9, 0x72, 0x35, 0xa0],
        ],
        ...[[0x65, 0xa0], [0x65]],
      ].map((bytes) => Buffer.from(bytes).toString('latin1'));
      const ids = await Promise.all(keys.map(() => anAsset()));
      const statuses: number[] = [];
      for (const [index, id] of ids.entries())
        statuses.push((await client.patch(path(id), {}, key(keys[index]))).status);
      expect(statuses).toEqual([200, 200, 200, 200, 200]);
      expect(isReplay(await client.patch(path(ids[0] ?? ''), {}, key(keys[0])))).toBe(true);
    });

    it('is refused when sent twice', async () => {
      const token = await app.arrange.aToken(workspace);
      const id = await anAsset();
      const response = await new Promise<{ status: number; text: string }>((resolve, reject) => {
        const request = httpRequest(`${app.origin}${path(id)}`, { method: 'PATCH' }, (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        });
        request.on('error', reject);
        request.setHeader('Authorization', `Bearer ${token}`);
        request.setHeader('Content-Type', 'application/json');
        request.setHeader('Idempotency-Key', ['one', 'two']);
        request.end('{}');
      });
      expect([response.status, JSON.parse(response.text)]).toMatchObject([400, { errors: [{ code: 'duplicated' }] }]);
    });

    it('is ignored on reads and by the token endpoint', async () => {
      const same = key();
      for (const other of [ASSETS, '/v1/computers']) {
        expect((await client.get(other, { headers: same })).status).toBe(200);
      }
      const { clientId, clientSecret } = await app.arrange.anApplication(workspace);
      const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
      expect((await app.client().requestToken(form, key('x'.repeat(300)))).status).toBe(200);
    });
  });

  describe('with the same request again', () => {
    it('replays status, body and ETag byte by byte, with a new request id, and applies nothing', async () => {
      const id = await anAsset();
      const same = key();
      const first = await client.patch(path(id), { description: 'Ünïcode 😀' }, same);
      const again = await client.patch(path(id), { description: 'Ünïcode 😀' }, same);
      expect([isReplay(first), isReplay(again)]).toEqual([false, true]);
      expect([again.status, again.text]).toEqual([first.status, first.text]);
      for (const header of ['etag', 'content-type', 'content-length']) {
        expect(again.headers.get(header)).toBe(first.headers.get(header));
      }
      expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
      expect(await auditRows(id)).toBe(1);
    });

    it('replays a body of 300 kB, and refuses another request', async () => {
      const tags = Array.from({ length: 300 }, (_, n) => ({
        key: `${n}${'k'.repeat(990)}`,
        value: '',
        readOnly: true,
      }));
      const { id } = await app.arrange.anAsset(workspace, { columns: { tags: JSON.stringify(tags) } });
      const headers = key();
      const update = (description: string) => client.patch(path(id), { description }, headers);
      const first = await update('once');
      const again = await update('once');

      expect([first.status, isReplay(again), again.text]).toEqual([200, true, first.text]);
      expect(again.headers.get('ETag')).toBe(first.headers.get('ETag'));
      expect((await update('twice')).body['code']).toBe('idempotency_conflict');
    });

    it('ignores white space and the order of members', async () => {
      const id = await anAsset();
      const same = key();
      await client.patch(path(id), '{"description":"a","classification":"PUBLIC"}', same);
      const again = await client.patch(path(id), ' {\n "classification" : "PUBLIC", "description": "\\u0061" } ', same);
      expect([again.status, isReplay(again)]).toEqual([200, true]);
    });

    it('ignores the case of the id', async () => {
      const id = await anAsset();
      const same = key();
      await client.patch(path(id), { description: 'a' }, same);
      const again = await client.patch(path(id.toUpperCase()), { description: 'a' }, same);
      expect([again.status, isReplay(again)]).toEqual([200, true]);
    });

    it('replays the original after the asset was changed, hidden or lost its owner', async () => {
      const id = await anAsset();
      const same = key();
      const first = await client.patch(path(id), { description: 'first' }, same);
      await client.patch(path(id), { description: 'second' });
      expect((await client.patch(path(id), { description: 'first' }, same)).text).toBe(first.text);
      await app.arrange.change(workspace, 'UPDATE asset SET visibility = 2 WHERE public_id = $1', [id]);
      const again = await client.patch(path(id), { description: 'first' }, same);
      expect([again.text, isReplay(again)]).toEqual([first.text, true]);
      expect((await client.get(path(id))).status).toBe(404);
    });

    it('replays before If-Match is checked', async () => {
      const id = await anAsset();
      const etag = (await client.get(path(id))).headers.get('etag') as string;
      const headers = { ...key(), 'If-Match': etag };
      const first = await client.patch(path(id), { description: 'x' }, headers);
      const again = await client.patch(path(id), { description: 'x' }, headers);
      expect([first.status, again.status, again.text]).toEqual([200, 200, first.text]);
    });

    it('replays a bulk update', async () => {
      const ids = [await anAsset(), randomUUID()];
      const same = key();
      const body = { ids, patch: { description: 'bulk' } };
      const first = await client.patch(ASSETS, body, same);
      const again = await client.patch(ASSETS, body, same);
      expect([again.text, isReplay(again)]).toEqual([first.text, true]);
      expect(await auditRows(ids[0] as string)).toBe(1);
    });

    it('checks current scopes again', async () => {
      const application = await app.arrange.anApplication(workspace);
      const form = {
        ...{ grant_type: 'client_credentials', client_id: application.clientId },
        client_secret: application.clientSecret,
      };
      const token = (await app.client().requestToken(form)).body['access_token'] as string;
      const id = await anAsset();
      const same = key();
      expect((await app.client(token).patch(path(id), {}, same)).status).toBe(200);
      await app.database.admin.query(`UPDATE application SET scopes = '{all:read}' WHERE client_id = $1`, [
        application.clientId,
      ]);
      expect((await app.client(token).patch(path(id), {}, same)).status).toBe(403);
    });
  });

  describe('with another request', () => {
    it.each<[string, (id: string) => { path?: string; body?: unknown; headers?: Record<string, string> }]>([
      ['another body', () => ({ body: { description: 'other' } })],
      ['a member more', () => ({ body: { description: 'x', classification: 'PUBLIC' } })],
      ['null in place of absent', () => ({ body: { description: 'x', ownerId: null } })],
      ['another media type', () => ({ headers: { 'Content-Type': 'application/merge-patch+json' } })],
      ['an invalid body', () => ({ body: { description: 7 } })],
      ['another path', () => ({ path: path(randomUUID()) })],
      ['the bulk path', (id) => ({ path: ASSETS, body: { ids: [id], patch: { description: 'x' } } })],
    ])('returns 409 idempotency_conflict: %s', async (_, variation) => {
      const id = await anAsset();
      const same = key();
      expect((await client.patch(path(id), { description: 'x' }, same)).status).toBe(200);
      const varied = variation(id);
      const response = await client.patch(varied.path ?? path(id), varied.body ?? { description: 'x' }, {
        ...same,
        ...varied.headers,
      });
      expect([response.status, response.body['code'], isReplay(response)]).toEqual([
        409,
        'idempotency_conflict',
        false,
      ]);
      expect((await client.get(path(id))).body).toMatchObject({ description: 'x', classification: 'UNKNOWN' });
    });
  });

  describe('from another application', () => {
    it('is a different key, in the same and in another workspace', async () => {
      const same = key();
      const otherWorkspace = await app.arrange.aWorkspace();
      const theirs = (await app.arrange.anAsset(otherWorkspace)).id;
      const cases: [ApiClient, string][] = [
        [client, await anAsset()],
        [await app.arrange.aClient(workspace), await anAsset()],
        [await app.arrange.aClient(otherWorkspace), theirs],
      ];
      for (const [one, id] of cases) {
        const response = await one.patch(path(id), { description: 'x' }, same);
        expect([response.status, isReplay(response)]).toEqual([200, false]);
      }
    });
  });

  describe('after a failed write', () => {
    it('leaves no record, audit event or change, and can be used again', async () => {
      const id = await anAsset();
      const employee = (await app.arrange.anEmployee(workspace)).id;
      const before = await records();
      const failures: [string, unknown, Record<string, string>, number][] = [
        [path(id), { description: 7 }, {}, 400],
        [path(id), { description: 'x', ownerId: randomUUID() }, {}, 400],
        [path(randomUUID()), { description: 'x' }, {}, 404],
        [path(employee), { description: 'x' }, {}, 403],
        [ASSETS, { ids: [id, employee], patch: { description: 'x' } }, {}, 403],
        [path(id), { description: 'x' }, { 'If-Match': '"other"' }, 412],
      ];
      for (const [target, body, headers, status] of failures) {
        const same = key();
        for (let time = 0; time < 2; time += 1) {
          expect((await client.patch(target, body, { ...headers, ...same })).status).toBe(status);
        }
        expect([await records(), await auditRows(id)]).toEqual([before, 0]);
        expect((await client.get(path(id))).body).toMatchObject({ description: null });
        const other = await anAsset();
        expect((await client.patch(path(other), { description: 'another' }, same)).status).toBe(200);
        await app.arrange.change(
          workspace,
          'DELETE FROM idempotency_record WHERE workspace_id = $1 AND created_at = (SELECT max(created_at) FROM idempotency_record)',
          [workspace],
        );
      }
    });

    it('leaves nothing when the audit event cannot be written', async () => {
      const id = await anAsset();
      const before = await records();
      const { admin } = app.database;
      await admin.query('ALTER TABLE audit_event ADD CONSTRAINT nothing_more CHECK (false) NOT VALID');
      try {
        const response = await client.patch(path(id), { description: 'x' });
        expect([response.status, response.headers.get('etag')]).toEqual([500, null]);
      } finally {
        await admin.query('ALTER TABLE audit_event DROP CONSTRAINT nothing_more');
      }
      expect((await client.get(path(id))).body).toMatchObject({ description: null });
      expect(await records()).toBe(before);
    });
  });

  it('expires counted from the success of its write, however long that waited', async () => {
    const id = await anAsset();
    const { admin } = app.database;
    await admin.query('BEGIN');
    await admin.query('SELECT 1 FROM asset WHERE public_id = $1 FOR UPDATE', [id]);
    const response = client.patch(path(id), { description: 'late' });
    let waits = 0;
    for (const deadline = Date.now() + 60_000; waits === 0 && Date.now() < deadline; await delay(10)) {
      // Within a transaction, statistics would stay unchanged.
      await admin.query('SELECT pg_stat_clear_snapshot()');
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      waits = await count(waiting, []);
    }
    const [free] = (await admin.query<{ at: string }>('SELECT clock_timestamp()::text AS at')).rows;
    await admin.query('COMMIT');
    expect([(await response).status, waits]).toEqual([200, 1]);
    const lived = `SELECT 1 FROM idempotency_record WHERE expires_at >= $1::timestamptz + make_interval(days => 1)`;
    expect(await count(lived, [free?.at])).toBe(1);
  });

  it('can be used for anything after IDEMPOTENCY_TTL_SECONDS', async () => {
    const shortLived = await startApp({ IDEMPOTENCY_TTL_SECONDS: '1' });
    try {
      const place = await shortLived.arrange.aWorkspace();
      const shortClient = await shortLived.arrange.aClient(place);
      const { id } = await shortLived.arrange.anAsset(place);
      const same = key();
      await shortClient.patch(path(id), { description: 'first' }, same);
      expect((await shortClient.patch(path(id), { description: 'second' }, same)).status).toBe(409);
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      const later = await shortClient.patch(path(id), { description: 'second' }, same);
      expect([later.status, isReplay(later), later.body['description']]).toEqual([200, false, 'second']);
      expect(isReplay(await shortClient.patch(path(id), { description: 'second' }, same))).toBe(true);
    } finally {
      await shortLived.stop();
    }
  });
});
