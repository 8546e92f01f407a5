import type { ApiClient } from '../support/api-client';
import { SET_POSTURE } from '../support/arrangement';
import { type TestApp, startApp } from '../support/start-app';
import { StreamReader } from '../support/stream-reader';

const PATH = '/v1/computers';
const UNKNOWN = { antivirus_installed: null };
const FAILING = { antivirus_installed: false, agent_version: '2.4.0' };
const PASSING = { antivirus_installed: true, agent_version: '2.4.0' };

describe('GET /v1/computers with filters', () => {
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

  const aComputer = async (posture: object, columns: object = {}, ownerId: string | null = null): Promise<string> =>
    (
      await app.arrange.anAsset(workspace, {
        type: 'COMPUTER',
        ownerId,
        columns: { ...columns },
        posture: { ...posture },
      })
    ).id;
  const idsOf = async (query: Record<string, string>): Promise<unknown[]> =>
    (await client.walk(PATH, { ...query, pageSize: '1' })).map(({ id }) => id);

  it('separates failing checks from unknown ones', async () => {
    const unknown = await aComputer(UNKNOWN);
    const failing = await aComputer(FAILING);
    await aComputer(PASSING);

    expect(await idsOf({ failingAnyOf: 'ANTIVIRUS' })).toEqual([failing]);
    expect(await idsOf({ unknownAnyOf: 'ANTIVIRUS' })).toEqual([unknown]);
    expect(await idsOf({ failingAnyOf: 'ANTIVIRUS', unknownAnyOf: 'ANTIVIRUS' })).toEqual([]);
    expect(await idsOf({ failingAnyOf: 'ANTIVIRUS', unknownAnyOf: 'SCREEN_LOCK' })).toEqual([failing]);
  });

  it('finds each computer once, whichever of several checks it fails', async () => {
    const failing = [
      await aComputer({ antivirus_installed: false, screen_lock_enabled: false }),
      await aComputer({ screen_lock_enabled: false }),
    ];

    expect(await idsOf({ failingAnyOf: 'SCREEN_LOCK,ANTIVIRUS' })).toEqual(failing);
    expect((await client.page(PATH, { failingAnyOf: 'SCREEN_LOCK,ANTIVIRUS' })).pageInfo.totalCount).toBe(2);
  });

  it('finds a computer that never checked in before any time, and excludes the time itself', async () => {
    const never = await aComputer(UNKNOWN);
    const at = await aComputer(UNKNOWN, { last_checked_at: '2026-11-01T06:00:00.123Z' });

    expect(await idsOf({ lastCheckedBefore: '0001-01-01T00:00:00Z' })).toEqual([never]);
    expect(await idsOf({ lastCheckedBefore: '2026-11-01T07:00:00.123+01:00' })).toEqual([never]);
    expect(await idsOf({ lastCheckedBefore: '2026-11-01T06:00:00.1230001Z' })).toEqual([never, at]);
    expect(await idsOf({ lastCheckedBefore: '2026-11-01T06:00:00.124Z' })).toEqual([never, at]);
    expect(await idsOf({ lastCheckedBefore: '9999-12-31T23:59:59.9999Z' })).toEqual([never, at]);
  });

  it('finds computers of an owner, a serial number, an id in any source, and a source', async () => {
    const owner = await app.arrange.anEmployee(workspace);
    await app.arrange.anAsset(workspace, { type: 'CUSTOM', ownerId: owner.id });
    const mdm = await aComputer(FAILING, { source: 'mdm', external_id: 'c-1', serial_number: 'S 1' }, owner.id);
    const edr = await aComputer(PASSING, { source: 'edr', external_id: 'c-1', serial_number: 's 1' });

    expect(await idsOf({ ownerId: owner.id.toUpperCase() })).toEqual([mdm]);
    expect(await idsOf({ serialNumber: 'S 1' })).toEqual([mdm]);
    expect(await idsOf({ externalId: 'c-1' })).toEqual([mdm, edr]);
    expect(await idsOf({ externalId: 'c-1', source: 'edr' })).toEqual([edr]);
    expect(await idsOf({ source: 'mdm', isMonitored: 'true' })).toEqual([mdm]);
    expect(await idsOf({ source: 'nobody' })).toEqual([]);
    expect(await idsOf({ ownerId: mdm })).toEqual([]);
  });

  it('shows neither computers of another workspace nor hidden ones', async () => {
    const elsewhere = await app.arrange.aWorkspace();
    const columns = { source: 'mdm', external_id: 'c-1', serial_number: 'S1' };
    await app.arrange.anAsset(elsewhere, { type: 'COMPUTER', columns, posture: FAILING });
    await app.arrange.anAsset(workspace, { type: 'COMPUTER', columns, posture: FAILING, visibility: 'HIDDEN' });

    const filters: Record<string, string>[] = [
      ...[{ isMonitored: 'true' }, { failingAnyOf: 'ANTIVIRUS' }, { unknownAnyOf: 'SCREEN_LOCK' }, { source: 'mdm' }],
      ...[{ externalId: 'c-1' }, { serialNumber: 'S1' }, { lastCheckedBefore: '2026-11-01T00:00:00Z' }],
    ];
    for (const filter of filters) {
      const { results, pageInfo } = await client.page(PATH, filter);
      expect([filter, results, pageInfo.totalCount]).toEqual([filter, [], 0]);
    }
  });

  it('follows changes of posture, visibility and owner', async () => {
    const owner = await app.arrange.anEmployee(workspace);
    const { id, internalId } = await app.arrange.anAsset(workspace, { type: 'COMPUTER', posture: PASSING });
    const query = { failingAnyOf: 'ANTIVIRUS', isMonitored: 'false', ownerId: owner.id };

    await app.arrange.change(
      workspace,
      'UPDATE computer SET antivirus_installed = false, agent_version = NULL WHERE asset_id = $1',
      [internalId],
    );
    await app.arrange.change(workspace, SET_POSTURE, [workspace, internalId]);
    expect(await idsOf(query)).toEqual([]);
    const updated = await client.patch(`/v1/inventory/assets/${id}`, { ownerId: owner.id });
    expect(updated.status).toBe(200);
    expect(await idsOf(query)).toEqual([id]);
    await app.arrange.change(workspace, 'UPDATE asset SET visibility = 1 WHERE id = $1', [internalId]);
    expect(await idsOf(query)).toEqual([]);
    await app.arrange.change(workspace, 'UPDATE asset SET visibility = 0 WHERE id = $1', [internalId]);
    expect(await idsOf(query)).toEqual([id]);
    await app.arrange.change(workspace, 'UPDATE computer SET antivirus_installed = NULL WHERE asset_id = $1', [
      internalId,
    ]);
    await app.arrange.change(workspace, SET_POSTURE, [workspace, internalId]);
    expect(await idsOf({ unknownAnyOf: 'ANTIVIRUS', isMonitored: 'false' })).toEqual([id]);
  });

  it('binds a cursor to its filters, and applies them when they are left out', async () => {
    for (let index = 0; index < 3; index += 1) await aComputer(FAILING);
    await aComputer(PASSING);
    const query = { failingAnyOf: 'ANTIVIRUS', pageSize: '2' };
    const pageCursor = (await client.page(PATH, query)).pageInfo.endCursor as string;

    const next = await client.page(PATH, { pageCursor });
    expect([next.results.length, next.pageInfo.totalCount]).toEqual([1, 3]);
    for (const other of ['failingAnyOf=SCREEN_LOCK', 'isMonitored=true']) {
      const { status, body } = await client.get(`${PATH}?pageCursor=${pageCursor}&${other}`);
      expect([status, body['code']]).toEqual([400, 'invalid_cursor']);
    }
  });

  it('streams the computers that match', async () => {
    const failing = [await aComputer(FAILING), await aComputer(FAILING)];
    await aComputer(PASSING);

    const token = await app.arrange.aToken(workspace);
    const reader = await StreamReader.open(app.origin, `${PATH}?failingAnyOf=ANTIVIRUS`, token);
    const { lines } = await reader.read();

    expect(lines[0]).toMatchObject({ type: 'start', totalCount: 2 });
    const streamed = lines.filter(({ type }) => type === 'computer');
    expect(streamed.map(({ computer }) => (computer as { id: string }).id)).toEqual(failing);
  });

  it.each([
    ['isMonitored', ['', 'yes', 'TRUE', '1']],
    ['failingAnyOf', ['', 'ANTIVIRUS,', 'ANTIVIRUS,ANTIVIRUS', 'antivirus', 'FIREWALL', 'ANTIVIRUS SCREEN_LOCK']],
    ['unknownAnyOf', ['', ',', 'SCREEN_LOCK,SCREEN_LOCK', 'null']],
    ['lastCheckedBefore', ['', 'now', '2026-11-01', '2026-02-30T00:00:00Z', '2026-11-01T00:00:00']],
    ['ownerId', ['', 'ada', '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c1']],
    ['serialNumber', ['', 'x'.repeat(257), '\u0000']],
    ['externalId', ['', 'x'.repeat(2049), 'é'.repeat(1025)]],
    ['source', ['', 'x'.repeat(257)]],
  ])('returns 400 naming %s when it is malformed, empty or repeated', async (parameter, values) => {
    for (const value of values) {
      const { status, body } = await client.get(`${PATH}?${new URLSearchParams({ [parameter]: value }).toString()}`);
      expect([value, status, body['code']]).toEqual([value, 400, 'validation_failed']);
      expect(body['errors']).toEqual([expect.objectContaining({ parameter })]);
    }
    const twice = await client.get(`${PATH}?${parameter}=true&${parameter}=true`);
    expect([twice.status, twice.body['errors']]).toEqual([400, [expect.objectContaining({ parameter })]]);
  });
});
