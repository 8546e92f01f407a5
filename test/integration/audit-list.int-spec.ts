import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { RecordedEvent } from '#libs/audit/operators';
import { type WorkspaceId, assetId } from '#libs/kernel';
import { AuditSetting } from '../support/audit-setting';

describe('The audit list', () => {
  let setting: AuditSetting;
  let workspaces: WorkspaceId[];
  beforeAll(async () => {
    setting = await AuditSetting.open();
    workspaces = [await setting.aWorkspace(), await setting.aWorkspace(), await setting.aWorkspace()];
    // More than a page in one workspace, alternating with another one, and a third without events.
    for (let update = 0; update < 14; update += 1) {
      await setting.record(workspaces[update % 7 === 0 ? 1 : 0] as WorkspaceId, 60, { clientId: `ci_${update % 2}` });
      await delay(2);
    }
  });
  afterAll(() => setting.close());

  const read = async (filter: object, limit?: number): Promise<RecordedEvent[]> => {
    const events: RecordedEvent[] = [];
    for await (const event of setting.audit.list({ workspaceIds: workspaces, ...filter }, limit)) events.push(event);
    return events;
  };

  it('returns every event of every workspace once, newest first, over any number of pages', async () => {
    const events = await read({});
    expect(events).toHaveLength(14 * 60);
    const ids = events.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort().reverse());
    const times = events.map(({ occurredAt }) => occurredAt);
    expect(times).toEqual([...times].sort().reverse());
    expect((await setting.audit.workspaces()).sort()).toEqual(workspaces.slice(0, 2).sort());
  });

  it('filters by workspace, asset, application and time, and limits the number of events', async () => {
    const all = await read({});
    const only = workspaces[1] as WorkspaceId;
    expect(await read({ workspaceIds: [only] })).toEqual(all.filter(({ workspaceId }) => workspaceId === only));
    expect(await read({ workspaceIds: [workspaces[2]] })).toEqual([]);
    expect(await read({ workspaceIds: [] })).toEqual([]);
    expect(await read({ clientId: 'ci_1' })).toEqual(all.filter(({ clientId }) => clientId === 'ci_1'));
    expect(await read({ clientId: 'ci_2' })).toEqual([]);
    const one = all[700] as RecordedEvent & { readonly assetId: string; readonly clientId: string };
    expect(await read({ assetId: assetId(one.assetId) })).toEqual([one]);
    expect(await read({ assetId: assetId(one.assetId), clientId: one.clientId })).toEqual([one]);
    expect(await read({ assetId: assetId(randomUUID()) })).toEqual([]);
    const since = Date.parse(one.occurredAt);
    expect(await read({ since })).toEqual(all.filter(({ occurredAt }) => Date.parse(occurredAt) >= since));
    expect(await read({ since: since + 1 })).toEqual(all.filter(({ occurredAt }) => Date.parse(occurredAt) > since));
    for (const limit of [1, 500, 501, 10_000]) expect(await read({}, limit)).toEqual(all.slice(0, limit));
  });

  it('returns events of several workspaces with the same id once each, even across pages', async () => {
    const twins = [await setting.aWorkspace(), await setting.aWorkspace(), await setting.aWorkspace()];
    await setting.record(twins[0] as WorkspaceId);
    for (const twin of twins.slice(1)) {
      await setting.database.admin.query(
        `INSERT INTO audit_event SELECT $2, id, occurred_at, asset_id, application_id, client_id, request_id, key_hash,
                changes, NULL, NULL, mac FROM audit_event WHERE workspace_id = $1`,
        [twins[0], twin],
      );
    }
    const sorted = [...twins].sort();
    // The result must not depend on the order of the workspaces.
    for (const workspaceIds of [sorted, [...sorted].reverse()]) {
      const found: WorkspaceId[] = [];
      for (let after: RecordedEvent | null = null; found.length < 10;) {
        const page: RecordedEvent[] = await setting.audit.page({ workspaceIds }, { size: 1, after });
        after = page[0] ?? null;
        if (after === null) break;
        found.push(after.workspaceId);
      }
      expect(found).toEqual([...sorted].reverse());
    }
  });

  it('returns the changes of one asset in the order they were made, even within a millisecond', async () => {
    const workspace = await setting.aWorkspace();
    jest.spyOn(Date, 'now').mockReturnValue(Date.now());
    for (let update = 0; update < 20; update += 1) {
      await setting.record(workspace, 1, { fields: { description: { old: update, new: update + 1 } } });
    }
    jest.restoreAllMocks();
    const events = await read({ workspaceIds: [workspace] });
    expect(new Set(events.map(({ occurredAt }) => occurredAt)).size).toBe(1);
    expect(events.map(({ changes }) => changes['description']?.old)).toEqual([...Array(20).keys()].reverse());
  });

  it('reads by an index, however many other events there are', async () => {
    await setting.database.admin.query('ANALYZE audit_event');
    const { rows } = await setting.database.admin.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN SELECT id FROM audit_event WHERE workspace_id = $1 AND asset_id = $2 ORDER BY id DESC LIMIT 10`,
      [workspaces[0], randomUUID()],
    );
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('audit_event_asset');
  });
});
