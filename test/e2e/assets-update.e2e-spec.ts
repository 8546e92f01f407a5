import { createHash, randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import type { ApiResponse, ApiClient } from '../support/api-client';
import { type TestApp, startApp } from '../support/start-app';

const path = (id: string): string => `/v1/inventory/assets/${id}`;
const MERGE_PATCH = { 'Content-Type': 'application/merge-patch+json' };
/** A character of two UTF-16 units, and one of two code points that looks like one character. */
const [EMOJI, EMOJI_WITH_SELECTOR] = ['😀', '❤️'];

describe('PATCH /v1/inventory/assets/{id}', () => {
  let app: TestApp;
  let workspace: string;
  let client: ApiClient;
  let owner: string;
  let otherOwner: string;
  beforeAll(async () => {
    // With a pool of one, anything that takes a second connection during a transaction fails.
    app = await startApp({ DATABASE_POOL_SIZE: '1' });
    workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace);
    owner = (await app.arrange.anEmployee(workspace)).id;
    otherOwner = (await app.arrange.anEmployee(workspace, 'Grace Ito')).id;
  });
  afterAll(() => app.stop());

  const anAsset = async (wishes: Parameters<TestApp['arrange']['anAsset']>[1] = {}): Promise<string> =>
    (await app.arrange.anAsset(workspace, { type: 'CUSTOM', ...wishes })).id;
  const read = async (id: string): Promise<Record<string, unknown>> => (await client.get(path(id))).body;
  const faultsOf = ({ body }: ApiResponse): unknown[] =>
    ((body['errors'] ?? []) as { pointer?: string; header?: string; parameter?: string; code: string }[]).map(
      ({ pointer, header, parameter, code }) => `${pointer ?? header ?? parameter ?? ''} ${code}`,
    );
  const auditRows = async (id: string): Promise<{ changes: Record<string, unknown>; key_hash: string }[]> => {
    const { rows } = await app.database.admin.query<{ changes: Record<string, unknown>; key_hash: string }>(
      'SELECT * FROM audit_event WHERE workspace_id = $1 AND asset_id = $2 ORDER BY id',
      [workspace, id],
    );
    return rows;
  };
  /** Sends headers that fetch refuses. */
  const rawPatch = async (target: string, headers: Record<string, string | string[]>): Promise<{ status: number }> => {
    const token = await app.arrange.aToken(workspace);
    return new Promise((resolve, reject) => {
      const common = {
        ...{ Authorization: `Bearer ${token}`, 'Idempotency-Key': randomUUID() },
        ...{ 'Content-Type': 'application/json' },
      };
      const request = httpRequest(`${app.origin}${target}`, { method: 'PATCH', headers: { ...common, ...headers } });
      request.on('response', (response) => {
        response.resume();
        resolve({ status: response.statusCode ?? 0 });
      });
      request.on('error', reject);
      request.end('{}');
    });
  };
  const full = { ownerId: '', description: 'Prints badges', classification: 'INTERNAL' };
  const anOwnedAsset = async (): Promise<string> => {
    const id = await anAsset();
    await client.patch(path(id), { ...full, ownerId: owner });
    return id;
  };

  describe('200', () => {
    it('sets owner, description and classification and returns the updated asset', async () => {
      const id = await anAsset();
      const patch = { ownerId: owner.toUpperCase(), description: 'Prints badges', classification: 'INTERNAL' };
      const response = await client.patch(path(id.toUpperCase()), patch);
      expect([response.status, response.body]).toEqual([
        200,
        expect.objectContaining({ ...patch, ownerId: owner, id, completeStatus: 'COMPLETE', ownerSource: 'API' }),
      ]);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(response.headers.get('idempotent-replayed')).toBeNull();
      expect(await read(id)).toEqual(response.body);
    });

    it('writes only the fields that are sent', async () => {
      const id = await anOwnedAsset();
      for (const patch of [
        { description: 'New words' },
        { classification: 'PUBLIC' },
        { ownerId: otherOwner },
        { classification: 'UNKNOWN' },
      ]) {
        const before = await read(id);
        const { body } = await client.patch(path(id), patch);
        expect(body).toEqual({ ...before, ...patch, updatedAt: body['updatedAt'] });
        expect(String(body['updatedAt']) > String(before['updatedAt'])).toBe(true);
      }
    });

    it('keeps fields that are absent or null in application/json', async () => {
      const id = await anOwnedAsset();
      const before = await read(id);
      const nulls = { ownerId: null, description: null, classification: null, tags: null };
      for (const patch of [{}, nulls]) expect((await client.patch(path(id), patch)).body).toEqual(before);
    });

    it('clears the description with an empty string', async () => {
      const id = await anOwnedAsset();
      const response = await client.patch(path(id), { description: '' });
      expect(response.body).toMatchObject({ description: null, ownerId: owner });
    });

    it('clears fields that are null in application/merge-patch+json', async () => {
      const id = await anOwnedAsset();
      expect((await client.patch(path(id), { ownerId: null }, MERGE_PATCH)).body).toMatchObject({
        ...{ ownerId: null, ownerSource: null, completeStatus: 'INCOMPLETE' },
        ...{ description: 'Prints badges', classification: 'INTERNAL' },
      });
      const others = { description: null, classification: null };
      expect((await client.patch(path(id), others, MERGE_PATCH)).body).toMatchObject({
        ...{ description: null, classification: 'UNKNOWN' },
      });
      expect((await client.patch(path(id), { description: 'Again' }, MERGE_PATCH)).body).toMatchObject({
        description: 'Again',
      });
    });

    it('marks the owner as set by the API even when the owner stays the same', async () => {
      const id = await anAsset({ ownerId: owner });
      expect(await read(id)).toMatchObject({ ownerSource: 'INTEGRATION' });
      expect((await client.patch(path(id), { ownerId: owner })).body).toMatchObject({ ownerSource: 'API' });
    });

    it('moves the asset to the totals and filters that match it now', async () => {
      const own = await app.arrange.aWorkspace();
      const ownClient = await app.arrange.aClient(own);
      const employee = await app.arrange.anEmployee(own);
      const { id } = await app.arrange.anAsset(own, { type: 'CUSTOM' });
      const total = async (query: Record<string, string>): Promise<number> =>
        (await ownClient.page('/v1/inventory/assets', { categoryKey: 'CUSTOM', ...query })).pageInfo.totalCount;
      expect([await total({ hasOwner: 'true' }), await total({ hasOwner: 'false' })]).toEqual([0, 1]);
      await ownClient.patch(path(id), { ownerId: employee.id, classification: 'PUBLIC' });
      expect([await total({ hasOwner: 'true' }), await total({ hasOwner: 'false' })]).toEqual([1, 0]);
      expect([await total({ classification: 'PUBLIC' }), await total({ classification: 'UNKNOWN' })]).toEqual([1, 0]);
    });

    it('counts the characters of a description as Unicode code points', async () => {
      const id = await anAsset();
      for (const description of [EMOJI.repeat(500), EMOJI_WITH_SELECTOR.repeat(250), 'é'.repeat(500)]) {
        const response = await client.patch(path(id), { description });
        expect([response.status, response.body['description']]).toEqual([200, description]);
      }
      expect((await client.patch(path(id), { description: `${EMOJI.repeat(500)}x` })).status).toBe(400);
      expect((await client.patch(path(id), { description: `${EMOJI_WITH_SELECTOR.repeat(250)}x` })).status).toBe(400);
    });

    it('updates assets of every category except employees, including computers', async () => {
      for (const type of ['CLOUD_QUEUE', 'COMPUTER', 'CUSTOM', 'INFORMATION'] as const) {
        const id = await anAsset({ type });
        expect((await client.patch(path(id), { classification: 'PUBLIC' })).status).toBe(200);
      }
    });

    it('uses the last of duplicate members', async () => {
      const id = await anAsset();
      const response = await client.patch(path(id), '{"description":"first","description":"last"}');
      expect(response.body['description']).toBe('last');
    });

    it('accepts a charset of UTF-8', async () => {
      const headers = { 'Content-Type': 'Application/JSON; charset="UTF-8"' };
      expect((await client.patch(path(await anAsset()), {}, headers)).status).toBe(200);
    });
  });

  describe('audit events', () => {
    it('record each applied change field by field, with its author and idempotency key', async () => {
      const id = await anAsset({ description: 'old' });
      const headers = { 'X-Request-Id': 'request-17', 'Idempotency-Key': 'key-17' };
      await client.patch(path(id), { ownerId: owner, description: 'new', classification: 'UNKNOWN' }, headers);
      expect(await auditRows(id)).toEqual([
        expect.objectContaining({
          request_id: 'request-17',
          key_hash: createHash('sha256').update('key-17').digest('hex'),
          changes: {
            ownerId: { old: null, new: owner },
            ownerSource: { old: null, new: 'API' },
            description: { old: 'old', new: 'new' },
          },
        }),
      ]);
    });

    it('are absent for an update that changes nothing, and the version stays', async () => {
      const id = await anOwnedAsset();
      const before = await client.get(path(id));
      for (const patch of [{}, { description: 'Prints badges' }, { ownerId: owner, classification: 'INTERNAL' }]) {
        const response = await client.patch(path(id), patch);
        expect([response.status, response.headers.get('etag')]).toEqual([200, before.headers.get('etag')]);
      }
      expect(await auditRows(id)).toHaveLength(1);
    });
  });

  describe('ETag and If-Match', () => {
    it('returns the same strong ETag for reads and writes, and a new one after every change', async () => {
      const id = await anAsset();
      const first = (await client.get(path(id))).headers.get('etag') as string;
      expect(first).toMatch(/^"[^"]+"$/);
      const updated = await client.patch(path(id), { description: 'changed' });
      expect(updated.headers.get('etag')).not.toBe(first);
      expect((await client.get(path(id))).headers.get('etag')).toBe(updated.headers.get('etag'));
    });

    it('applies an update when If-Match lists the current version or *', async () => {
      const id = await anAsset();
      const tag = async () => (await client.get(path(id))).headers.get('etag') as string;
      for (const [index, ifMatch] of [await tag(), `"other" , ${await tag()},"a,b"`, '*'].entries()) {
        const current = ifMatch.replace(/"\d+"/, await tag());
        const response = await client.patch(path(id), { description: `take ${index}` }, { 'If-Match': current });
        expect([ifMatch, response.status]).toEqual([ifMatch, 200]);
      }
    });

    it('returns 412 for an If-Match with another version or only a weak tag', async () => {
      const id = await anAsset();
      const stale = (await client.get(path(id))).headers.get('etag') as string;
      await client.patch(path(id), { description: 'changed meanwhile' });
      const current = (await client.get(path(id))).headers.get('etag') as string;
      for (const ifMatch of [stale, `W/${current}`, '"nothing"']) {
        const response = await client.patch(path(id), { description: 'lost update' }, { 'If-Match': ifMatch });
        expect([ifMatch, response.status, response.body['code']]).toEqual([ifMatch, 412, 'precondition_failed']);
        expect(response.headers.get('etag')).toBeNull();
      }
      expect(await read(id)).toMatchObject({ description: 'changed meanwhile' });
    });

    it('returns 412 even when If-Match follows the maximum number of other headers', async () => {
      const id = await anAsset();
      const others = { a: Array<string>(190).fill('') };
      expect(await rawPatch(path(id), { ...others, 'If-Match': '"99999"' })).toEqual({ status: 412 });
      expect(await rawPatch(path(id), { ...others, 'If-Match': '*', 'Content-Encoding': 'gzip' })).toEqual({
        status: 415,
      });
    });

    it('ignores empty elements in If-Match', async () => {
      const id = await anAsset();
      const etag = (await client.get(path(id))).headers.get('etag') as string;
      const statuses = [];
      for (const ifMatch of [',"99999"', `, ,"99999", ,${etag},,`])
        statuses.push((await client.patch(path(id), {}, { 'If-Match': ifMatch })).status);
      expect(statuses).toEqual([412, 200]);
    });

    it('returns 400 for a malformed If-Match', async () => {
      const id = await anAsset();
      for (const ifMatch of ['7', '"7', '"7" "8"', ',']) {
        const response = await client.patch(path(id), {}, { 'If-Match': ifMatch });
        expect([ifMatch, response.status, faultsOf(response)]).toEqual([ifMatch, 400, ['If-Match format']]);
      }
    });

    it('checks validity, then existence, then writability, then If-Match', async () => {
      const stale = { 'If-Match': '"nothing"' };
      const responses = [
        await client.patch(path(randomUUID()), { description: 7 }, stale),
        await client.patch(path(randomUUID()), { ownerId: randomUUID() }, stale),
        await client.patch(path(randomUUID()), {}, stale),
        await client.patch(path(owner), {}, stale),
      ];
      expect(responses.map(({ status }) => status)).toEqual([400, 400, 404, 403]);
    });
  });

  describe('400', () => {
    it.each([
      ['{"description":7}', '/description format'],
      [`{"description":"${'x'.repeat(501)}"}`, '/description length'],
      ['{"description":"a\\u0000b"}', '/description format'],
      ['{"description":"a\\ud800b"}', '/description format'],
      ['{"classification":"SECRET"}', '/classification choice'],
      ['{"classification":"public"}', '/classification choice'],
      ['{"classification":["PUBLIC"]}', '/classification choice'],
      ['{"ownerId":"ada"}', '/ownerId format'],
      ['{"ownerId":{}}', '/ownerId format'],
      ['{"name":"mine"}', '/name readonly'],
      ['{"completeStatus":"COMPLETE"}', '/completeStatus readonly'],
      ['{"ownerSource":"MANUAL"}', '/ownerSource readonly'],
      ['{"name":null}', '/name readonly'],
      ['{"owner":"ada"}', '/owner unknown'],
      ['{"a/b~c":1}', '/a~1b~0c unknown'],
      ['{"__proto__":{"description":"x"}}', '/__proto__ unknown'],
      ['{"prototype":{"description":"x"}}', '/prototype unknown'],
      ['{"constructor":1}', '/constructor unknown'],
      ['[]', ' format'],
      ['"text"', ' format'],
      ['null', ' format'],
      ['{"description":1e400}', '/description range'],
      ['{"description":', ' format'],
      ["{'description':'x'}", ' format'],
      [`{"description":${'['.repeat(16)}${']'.repeat(16)}}`, ' range'],
      [`${'['.repeat(30_000)}${']'.repeat(30_000)}`, ' range'],
    ])('names the fault of %.60s', async (body, fault) => {
      const response = await client.patch(path(owner), body);
      expect([response.status, response.body['code'], faultsOf(response)]).toEqual([400, 'validation_failed', [fault]]);
    });

    it('names every invalid member', async () => {
      const response = await client.patch(path(owner), { description: 7, classification: 'X', name: 'n', hue: 1 });
      expect(faultsOf(response)).toEqual([
        '/name readonly',
        '/hue unknown',
        '/classification choice',
        '/description format',
      ]);
    });

    it('accepts sixteen levels of nesting and refuses seventeen', async () => {
      const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
      expect(faultsOf(await client.patch(path(owner), nested(16)))).toEqual(['/a unknown']);
      expect(faultsOf(await client.patch(path(owner), nested(17)))).toEqual([' range']);
    });

    it('refuses an empty body', async () => {
      const response = await client.patch(path(owner), '');
      expect([response.status, faultsOf(response)]).toEqual([400, [' required']]);
    });

    it.each<Record<string, string>>([{}, { 'Content-Type': 'text/plain' }])(
      'refuses a request without a body, with %j',
      async (type) => {
        const headers = { 'Idempotency-Key': randomUUID(), ...type };
        const response = await client.send('PATCH', path(owner), { headers });
        expect([response.status, faultsOf(response)]).toEqual([400, [' required']]);
      },
    );

    it('keeps the response short for a body with many faults', async () => {
      const members = Array.from({ length: 9_000 }, (_, index) => `"m${index}":1`).join(',');
      const response = await client.patch(path(owner), `{${members}}`);
      expect([response.status, faultsOf(response).length]).toEqual([400, 20]);
      expect(response.text.length).toBeLessThan(10_000);
    });

    it('refuses a body that is not UTF-8', async () => {
      const response = await client.send('PATCH', path(owner), {
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() },
        body: Buffer.from('{"description":"\xff"}', 'latin1'),
      });
      expect([response.status, faultsOf(response)]).toEqual([400, [' format']]);
    });

    it('refuses an owner who is not a visible employee of the workspace', async () => {
      const elsewhere = await app.arrange.anEmployee(await app.arrange.aWorkspace());
      const hidden = await app.arrange.anAsset(workspace, { type: 'EMPLOYEE', visibility: 'HIDDEN' });
      const id = await anAsset();
      for (const ownerId of [randomUUID(), elsewhere.id, hidden.id, await anAsset(), id]) {
        const response = await client.patch(path(id), { ownerId, description: 'x' });
        expect([response.status, faultsOf(response)]).toEqual([400, ['/ownerId unknown']]);
      }
      expect(await read(id)).toMatchObject({ ownerId: null, description: null });
    });

    it('refuses an id that is not a UUID, and every query parameter', async () => {
      expect(faultsOf(await client.patch(path('17'), {}))).toEqual(['id format']);
      expect(faultsOf(await client.patch(`${path(owner)}?force=1`, {}))).toEqual(['force unknown']);
    });
  });

  it('returns 403 resource_not_writable for an employee', async () => {
    const response = await client.patch(path(owner), { description: 'x' });
    expect([response.status, response.body['code']]).toEqual([403, 'resource_not_writable']);
    expect(await read(owner)).toMatchObject({ description: null });
  });

  it('returns 404 for a hidden, deleted, foreign or unknown asset', async () => {
    const elsewhere = await app.arrange.anAsset(await app.arrange.aWorkspace());
    const hidden = await app.arrange.anAsset(workspace, { visibility: 'HIDDEN' });
    const deleted = await app.arrange.anAsset(workspace, { visibility: 'DELETED' });
    const details = new Set<unknown>();
    for (const id of [elsewhere.id, hidden.id, deleted.id, randomUUID()]) {
      const response = await client.patch(path(id), { description: 'x' });
      expect([response.status, response.body['code']]).toEqual([404, 'not_found']);
      details.add(response.body['detail']);
    }
    expect(details.size).toBe(1);
  });

  it('returns 413 for a body over 256 KiB', async () => {
    const response = await client.patch(path(owner), `{"description":"${'x'.repeat(262_144)}"}`);
    // The rest of the body is unread, so the connection cannot carry another request.
    expect([response.status, response.body['code'], response.headers.get('connection')]).toEqual([
      413,
      'payload_too_large',
      'close',
    ]);
  });

  it('returns 415 for other media types, other charsets, no type and compressed bodies', async () => {
    const refused: Record<string, string>[] = [
      { 'Content-Type': 'text/plain' },
      { 'Content-Type': 'application/json-patch+json' },
      { 'Content-Type': 'application/json; charset=iso-8859-1' },
      { 'Content-Encoding': 'gzip' },
    ];
    for (const headers of refused) {
      const response = await client.patch(path(owner), {}, headers);
      expect([headers, response.status, response.body['code']]).toEqual([headers, 415, 'unsupported_media_type']);
    }
  });

  it('returns 415 for two content types', async () => {
    const { status } = await rawPatch(path(owner), {
      'Content-Type': ['application/json', MERGE_PATCH['Content-Type']],
    });
    expect(status).toBe(415);
    expect((await rawPatch(path(owner), { 'Transfer-Encoding': 'gzip, chunked' })).status).toBe(415);
  });

  it('checks token, scope, key, body and stored response in this order', async () => {
    const reader = await app.arrange.aClient(workspace, ['all:read']);
    const nothing = { 'Idempotency-Key': null, 'Content-Type': 'text/plain' };
    expect((await app.client().patch(path(owner), 'x', nothing)).body['code']).toBe('token_missing');
    expect((await reader.patch(path(owner), 'x', nothing)).body['code']).toBe('insufficient_scope');
    expect(faultsOf(await client.patch(path(owner), 'x', nothing))).toEqual(['Idempotency-Key required']);
    expect((await client.patch(path(owner), 'x', { 'Content-Type': 'text/plain' })).status).toBe(415);
    expect((await client.patch(`${path(owner)}?%`, 'x', { 'Content-Type': 'text/plain' })).status).toBe(415);
    const key = { 'Idempotency-Key': randomUUID() };
    const id = await anAsset();
    expect((await client.patch(path(id), { description: 'x' }, key)).status).toBe(200);
    // The body is invalid, but the key was used: the conflict comes first.
    expect((await client.patch(path(id), { description: 7 }, key)).status).toBe(409);
  });

  it('requires only inventory:write, not inventory:read', async () => {
    const writer = await app.arrange.aClient(workspace, ['inventory:write']);
    const id = await anAsset();
    expect((await writer.patch(path(id), { classification: 'PUBLIC' })).status).toBe(200);
    expect((await writer.get(path(id))).status).toBe(403);
  });
});
