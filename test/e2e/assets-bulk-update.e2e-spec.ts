import { randomUUID } from 'node:crypto';
import type { ApiResponse, ApiClient } from '../support/api-client';
import { type TestApp, startApp } from '../support/start-app';

const BULK = '/v1/inventory/assets';

describe('PATCH /v1/inventory/assets', () => {
  let app: TestApp;
  let workspace: string;
  let client: ApiClient;
  let owner: string;
  beforeAll(async () => {
    app = await startApp({ DATABASE_POOL_SIZE: '1' });
    workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace);
    owner = (await app.arrange.anEmployee(workspace)).id;
    await app.arrange.aTagKey(workspace, 'env');
  });
  afterAll(() => app.stop());

  const assets = async (count: number): Promise<string[]> => {
    const ids: string[] = [];
    while (ids.length < count) ids.push((await app.arrange.anAsset(workspace, { type: 'CLOUD_QUEUE' })).id);
    return ids;
  };
  const read = async (id: string) => (await client.get(`${BULK}/${id}`)).body;
  const faultsOf = ({ body }: ApiResponse): string[] =>
    ((body['errors'] ?? []) as { pointer?: string; header?: string; code: string }[]).map(
      ({ pointer, header, code }) => `${pointer ?? header ?? ''} ${code}`,
    );
  const auditRows = async (ids: readonly string[]): Promise<number> => {
    const { rows } = await app.database.admin.query('SELECT 1 FROM audit_event WHERE asset_id = ANY ($1)', [ids]);
    return rows.length;
  };

  it('applies the patch to every id and returns counts, not assets', async () => {
    const ids = await assets(100);
    const patch = { ownerId: owner, classification: 'CONFIDENTIAL', description: 'Reviewed' };
    const response = await client.patch(BULK, { ids, patch });
    expect([response.status, response.body]).toEqual([200, { successfulUpdates: 100, failedUpdates: 0, failures: [] }]);
    for (const id of [ids[0], ids[99]] as string[]) {
      expect(await read(id)).toMatchObject({ ...patch, ownerSource: 'API', completeStatus: 'COMPLETE' });
    }
    expect(await auditRows(ids)).toBe(100);
    const page = await client.page(BULK, { classification: 'CONFIDENTIAL', subKey: 'CLOUD_QUEUE', pageSize: '1' });
    expect(page.pageInfo.totalCount).toBe(100);
  });

  it('counts distinct ids regardless of case, and lists ids without an asset', async () => {
    const [id] = (await assets(1)) as [string];
    const elsewhere = await app.arrange.anAsset(await app.arrange.aWorkspace());
    const hidden = await app.arrange.anAsset(workspace, { visibility: 'HIDDEN' });
    const hiddenEmployee = await app.arrange.anAsset(workspace, { type: 'EMPLOYEE', visibility: 'DELETED' });
    const missing = [elsewhere.id, hidden.id, hiddenEmployee.id, randomUUID()];
    const ids = [id, id.toUpperCase(), ...missing, ...missing];
    const response = await client.patch(BULK, { ids, patch: { classification: 'PUBLIC' } });
    expect([response.status, response.body]).toEqual([
      200,
      {
        successfulUpdates: 1,
        failedUpdates: 4,
        failures: missing.map((one) => ({ id: one, code: 'not_found', detail: expect.any(String) as string })),
      },
    ]);
  });

  it('returns 200 when every id failed', async () => {
    const response = await client.patch(BULK, { ids: [randomUUID()], patch: { classification: 'PUBLIC' } });
    expect([response.status, response.body]).toMatchObject([200, { successfulUpdates: 0, failedUpdates: 1 }]);
  });

  it('counts an unchanged asset as updated, without an audit event or a new version', async () => {
    const [same, other] = (await assets(2)) as [string, string];
    await client.patch(`${BULK}/${same}`, { classification: 'PUBLIC' });
    const tag = (await client.get(`${BULK}/${same}`)).headers.get('etag');
    const response = await client.patch(BULK, { ids: [same, other], patch: { classification: 'PUBLIC' } });
    expect(response.body).toMatchObject({ successfulUpdates: 2 });
    expect((await client.get(`${BULK}/${same}`)).headers.get('etag')).toBe(tag);
    expect([await auditRows([same]), await auditRows([other])]).toEqual([1, 1]);
    expect((await client.patch(BULK, { ids: [same], patch: {} })).body).toMatchObject({ successfulUpdates: 1 });
  });

  it('treats null tags as absent even in a merge patch, and null fields by the media type', async () => {
    const [id] = (await assets(1)) as [string];
    await client.patch(`${BULK}/${id}`, { tags: [{ key: 'env' }], description: 'old' });
    const body = { ids: [id], patch: { tags: null, description: null } };
    expect((await client.patch(BULK, body)).status).toBe(200);
    expect(await read(id)).toMatchObject({ description: 'old', tags: [{ key: 'env' }] });
    expect((await client.patch(BULK, body, { 'Content-Type': 'application/merge-patch+json' })).status).toBe(200);
    expect(await read(id)).toMatchObject({ description: null, tags: [{ key: 'env' }] });
  });

  it('returns 403 and applies nothing when one id is an employee', async () => {
    const ids = await assets(3);
    const sent = [...ids, owner, randomUUID(), owner.toUpperCase()];
    const response = await client.patch(BULK, { ids: sent, patch: { description: 'x' } });
    expect([response.status, response.body['code']]).toEqual([403, 'resource_not_writable']);
    expect(faultsOf(response)).toEqual(['/ids/3 readonly', '/ids/5 readonly']);
    for (const id of ids) expect(await read(id)).toMatchObject({ description: null });
    expect(await auditRows(ids)).toBe(0);
  });

  it('returns 400 for an invalid owner before it checks anything else', async () => {
    const ids = [...(await assets(1)), owner];
    const response = await client.patch(BULK, { ids, patch: { ownerId: ids[0], description: 'x' } });
    expect([response.status, faultsOf(response)]).toEqual([400, ['/patch/ownerId unknown']]);
    expect(await read(ids[0] as string)).toMatchObject({ description: null });
  });

  describe('with a patch for each asset', () => {
    const mergePatch = { 'Content-Type': 'application/merge-patch+json' };

    it('gives each asset its own owner, fields and tags, and counts those that are not there', async () => {
      const other = (await app.arrange.anEmployee(workspace, 'Mei', 'Mei.Tanaka@example.com')).id;
      await app.arrange.aTagKey(workspace, 'stage');
      const [first, second, third] = (await assets(3)) as [string, string, string];
      await client.patch(`${BULK}/${third}`, {
        tags: [{ key: 'env' }],
        description: 'stays',
        classification: 'PUBLIC',
      });
      const missing = randomUUID();
      const updates = [
        { id: first, patch: { ownerId: owner, tags: [{ key: 'env' }] } },
        { id: missing, patch: { description: 'nobody' } },
        { id: second.toUpperCase(), patch: { ownerEmail: ' mei.tanaka@EXAMPLE.com\t', description: 'hers' } },
        { id: third, patch: { tags: [{ key: 'stage' }], classification: 'INTERNAL' } },
      ];

      const { status, body } = await client.patch(BULK, { updates });

      expect([status, body]).toMatchObject([
        200,
        { successfulUpdates: 3, failedUpdates: 1, failures: [{ id: missing, code: 'not_found' }] },
      ]);
      expect(await read(first)).toMatchObject({ ownerId: owner, tags: [{ key: 'env' }], description: null });
      expect(await read(second)).toMatchObject({ ownerId: other, ownerSource: 'API', description: 'hers', tags: [] });
      const changed = { tags: [{ key: 'stage' }], description: 'stays', classification: 'INTERNAL', ownerId: null };
      expect(await read(third)).toMatchObject(changed);
      for (const [key, count] of Object.entries({ env: 1, stage: 1 })) {
        const { results } = await client.page(BULK, { tagKey: key });
        expect(results.filter(({ id }) => [first, second, third].includes(id as string))).toHaveLength(count);
      }
      expect(await auditRows([first, second, third])).toBe(4);
    });

    it('refuses the whole request, and names every place at fault', async () => {
      const [first, second] = (await assets(2)) as [string, string];
      const updates = [
        { id: first, patch: { ownerId: owner, description: 'x' } },
        { id: second, patch: { ownerId: first } },
        { id: randomUUID(), patch: { tags: [{ key: 'nobody' }] } },
        { id: randomUUID(), patch: { ownerEmail: 'nobody@example.com' } },
      ];
      const response = await client.patch(BULK, { updates });
      expect([response.status, faultsOf(response)]).toEqual([
        400,
        [
          '/updates/1/patch/ownerId unknown',
          '/updates/2/patch/tags/0/key unknown',
          '/updates/3/patch/ownerEmail unknown',
        ],
      ]);
      expect(await read(first)).toMatchObject({ ownerId: null, description: null });
    });

    it('returns 403 with the places of employees, and applies nothing', async () => {
      const [id] = (await assets(1)) as [string];
      const updates = [id, owner].map((one) => ({ id: one, patch: { description: 'x' } }));
      const response = await client.patch(BULK, { updates });
      expect([response.status, faultsOf(response)]).toEqual([403, ['/updates/1/id readonly']]);
      expect(await read(id)).toMatchObject({ description: null });
    });

    it('clears by null in a merge patch, tags too', async () => {
      const [id, other] = (await assets(2)) as [string, string];
      const full = { ownerId: owner, description: 'd', tags: [{ key: 'env' }] };
      await client.patch(BULK, { updates: [id, other].map((one) => ({ id: one, patch: full })) });
      const nulls = { tags: null, description: null };
      const updates = [
        { id, patch: { ...nulls, ownerEmail: null } },
        { id: other, patch: { ownerId: null } },
      ];
      await client.patch(BULK, { updates });
      expect(await read(id)).toMatchObject({ ownerId: owner, description: 'd', tags: [{ key: 'env' }] });
      expect(faultsOf(await client.patch(BULK, { updates, ids: null, patch: null }, mergePatch))).toEqual([]);
      expect(await read(id)).toMatchObject({ ownerId: null, ownerSource: null, description: null, tags: [] });
      expect(await read(other)).toMatchObject({ ownerId: null, description: 'd', tags: [{ key: 'env' }] });
    });

    it('keeps the values of later imports away from every field that it sets, changed or not', async () => {
      const [id, other] = (await assets(2)) as [string, string];
      const updates = [
        { id, patch: { description: 'mine' } },
        { id: other, patch: { classification: 'UNKNOWN' } },
      ];
      await client.patch(BULK, { updates });
      const { rows } = await app.database.admin.query<{ public_id: string; api_set: number }>(
        'SELECT public_id, api_set FROM asset WHERE public_id = ANY ($1)',
        [[id, other]],
      );
      expect(new Map(rows.map((row) => [row.public_id, row.api_set]))).toEqual(new Map([[id, 2], [other, 4]])); // prettier-ignore
    });

    const uuid = '00000000-0000-0000-0000-000000000000';
    it.each([
      ['no entries', { updates: [] }, ['/updates length']],
      ['101 entries', { updates: Array.from({ length: 101 }, () => ({ id: uuid, patch: {} })) }, ['/updates length']],
      ['ids beside it', { updates: [{ id: uuid, patch: {} }], ids: [uuid] }, ['/updates format']],
      ['a patch beside it', { updates: [{ id: uuid, patch: {} }], patch: {} }, ['/updates format']],
      ['no list', { updates: {} }, ['/updates format']],
      ['an entry that is no object', { updates: [{ id: uuid, patch: {} }, 7] }, ['/updates/1 format']],
      ['no members', { updates: [{}] }, ['/updates/0/id required', '/updates/0/patch required']],
      [
        'an id twice, in either case',
        { updates: ['a', 'b', 'A'].map((digit) => ({ id: uuid.replaceAll('0', digit), patch: {} })) },
        ['/updates/2/id duplicated'],
      ],
      ['a name that is unknown', { updates: [{ id: uuid, patch: { hue: 1 } }] }, ['/updates/0/patch/hue unknown']],
      [
        'two owners',
        { updates: [{ id: uuid, patch: { ownerId: uuid, ownerEmail: 'a@example.com' } }] },
        ['/updates/0/patch/ownerEmail format'],
      ],
    ])('returns 400 for %s', async (_, body, faults) => {
      const response = await client.patch(BULK, body);
      expect([response.status, response.body['code'], faultsOf(response)]).toEqual([400, 'validation_failed', faults]);
    });
  });

  describe('with onlyIf', () => {
    it.each([
      ['hasOwner', { hasOwner: false }, [1, 2]],
      ['hasDescription', { hasDescription: true }, [1]],
      ['classification', { classification: 'PUBLIC' }, [2]],
      ['several members', { hasOwner: false, classification: 'UNKNOWN' }, [1]],
      ['an owner who left', { hasOwner: true }, [0, 3]],
      ['no condition', { hasOwner: null, hasDescription: null, classification: null }, [0, 1, 2, 3]],
      ['an empty condition', {}, [0, 1, 2, 3]],
      ['null', null, [0, 1, 2, 3]],
    ])('changes only what matches %s', async (_, onlyIf, places) => {
      const left = (await app.arrange.anAsset(workspace, { type: 'EMPLOYEE', visibility: 'DELETED' })).id;
      const own = [{ ownerId: owner }, { description: 'd' }, { classification: 'PUBLIC' }, { ownerId: left }] as const;
      const ids: string[] = [];
      for (const members of own) ids.push((await app.arrange.anAsset(workspace, members)).id);
      const patch = { ownerId: owner, description: 'new' };
      const changed = places.map((place) => ids[place] as string);
      const failures = ids.flatMap((id) => (changed.includes(id) ? [] : [{ id, code: 'condition_failed' }]));
      const expected = { successfulUpdates: changed.length, failedUpdates: failures.length, failures };

      const tried = await client.patch(BULK, { ids, patch, onlyIf, dryRun: true });
      const { status, body } = await client.patch(BULK, { updates: ids.map((id) => ({ id, patch })), onlyIf });

      expect([tried.status, tried.body]).toMatchObject([200, expected]);
      expect([status, body]).toMatchObject([200, expected]);
      for (const id of ids) {
        expect((await read(id))['description'] === 'new').toBe(changed.includes(id));
      }
    });

    it.each([
      ['no object', { onlyIf: [] }, ['/onlyIf format']],
      ['an unknown member', { onlyIf: { hasOwners: true } }, ['/onlyIf/hasOwners unknown']],
      ['a text', { onlyIf: { hasOwner: 'false' } }, ['/onlyIf/hasOwner format']],
      ['an unknown classification', { onlyIf: { classification: 'SECRET' } }, ['/onlyIf/classification choice']],
    ])('returns 400 for %s', async (_, body, faults) => {
      const response = await client.patch(BULK, { ids: [randomUUID()], patch: {}, ...body });
      expect([response.status, faultsOf(response)]).toEqual([400, faults]);
    });
  });

  describe('with ownerEmail', () => {
    it('finds the one visible employee, and refuses an address of nobody or several', async () => {
      const mine = await app.arrange.anEmployee(workspace, 'Ada', 'Ada.Lovelace@example.com');
      const gone = { type: 'EMPLOYEE', visibility: 'DELETED', columns: { email: 'ada.lovelace@example.com' } } as const;
      await app.arrange.anAsset(workspace, gone);
      await app.arrange.anEmployee(await app.arrange.aWorkspace(), 'Ada', 'ada.lovelace@example.com');
      for (const email of ['twin@example.com', 'TWIN@example.com'])
        await app.arrange.anEmployee(workspace, 'Twin', email);
      await app.arrange.anAsset(workspace, { columns: { email: 'device@example.com' } });
      const [id] = (await assets(1)) as [string];
      const faults = async (ownerEmail: unknown, headers = {}): Promise<string[]> =>
        faultsOf(await client.patch(`${BULK}/${id}`, { ownerEmail }, headers));

      expect(
        (await client.patch(`${BULK}/${id}`, { ownerEmail: `\n ADA.lovelace@example.com${' '.repeat(300)}` })).body,
      ).toMatchObject({
        ownerId: mine.id,
        ownerSource: 'API',
      });
      expect(await faults('twin@example.com')).toEqual(['/ownerEmail ambiguous']);
      for (const nobody of ['nobody@example.com', 'device@example.com', '', '%']) {
        expect(await faults(nobody)).toEqual(['/ownerEmail unknown']);
      }
      expect(await faults('x'.repeat(257))).toEqual(['/ownerEmail length']);
      expect(await faults(7)).toEqual(['/ownerEmail format']);
      const bulk = await client.patch(BULK, { ids: [id], patch: { ownerEmail: 'twin@example.com' } });
      expect(faultsOf(bulk)).toEqual(['/patch/ownerEmail ambiguous']);
    });

    it('counts as absent for null in JSON, clears in a merge patch, and never stands beside ownerId there', async () => {
      const [id] = (await assets(1)) as [string];
      const path = `${BULK}/${id}`;
      const mergePatch = { 'Content-Type': 'application/merge-patch+json' };
      expect((await client.patch(path, { ownerId: owner, ownerEmail: null })).body['ownerId']).toBe(owner);
      expect((await client.patch(path, { ownerEmail: null })).body['ownerId']).toBe(owner);
      for (const body of [
        { ownerId: null, ownerEmail: null },
        { ownerId: owner, ownerEmail: null },
      ]) {
        expect(faultsOf(await client.patch(path, body, mergePatch))).toEqual(['/ownerEmail format']);
      }
      expect((await client.patch(path, { ownerEmail: null }, mergePatch)).body).toMatchObject({
        ownerId: null,
        ownerSource: null,
      });
    });
  });

  it('returns 400 for If-Match', async () => {
    const response = await client.patch(BULK, { ids: await assets(1), patch: {} }, { 'If-Match': '"1"' });
    expect([response.status, faultsOf(response)]).toEqual([400, ['If-Match format']]);
  });

  const id = '00000000-0000-0000-0000-000000000000';
  it.each([
    ['no members', {}, ['/ids required', '/patch required']],
    ['no ids', { ids: [], patch: {} }, ['/ids length']],
    ['101 ids, be they the same', { ids: Array.from({ length: 101 }, () => id), patch: {} }, ['/ids length']],
    ['ids that are no list', { ids: id, patch: {} }, ['/ids format']],
    [
      'ids that are no UUIDs',
      { ids: [id, 'x', 7, null], patch: {} },
      ['/ids/1 format', '/ids/2 format', '/ids/3 format'],
    ],
    ['null ids', { ids: null, patch: {} }, ['/ids required']],
    ['no patch', { ids: [id] }, ['/patch required']],
    ['a null patch', { ids: [id], patch: null }, ['/patch required']],
    ['a patch that is no object', { ids: [id], patch: [] }, ['/patch format']],
    ['tags', { ids: [id], patch: { tags: [] } }, ['/patch/tags readonly']],
    ['further members', { ids: [id], patch: {}, mode: 'fast' }, ['/mode unknown']],
    [
      'fields that cannot be written',
      { ids: [id], patch: { name: 'x', hue: 1 } },
      ['/patch/name readonly', '/patch/hue unknown'],
    ],
    ['too long a description', { ids: [id], patch: { description: 'x'.repeat(501) } }, ['/patch/description length']],
  ])('returns 400 for %s', async (_, body, faults) => {
    const response = await client.patch(BULK, body);
    expect([response.status, response.body['code'], faultsOf(response)]).toEqual([400, 'validation_failed', faults]);
  });

  it('requires a write scope', async () => {
    const reader = await app.arrange.aClient(workspace, ['all:read']);
    expect((await reader.patch(BULK, { ids: [id], patch: {} })).body['code']).toBe('insufficient_scope');
  });
});
