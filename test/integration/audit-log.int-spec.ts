import type { DataSource } from 'typeorm';
import type { FeedStart, WorkspaceId } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import type { AuditEvent } from '../../libs/audit/src/domain/audit-event';
import type { EventFilter } from '../../libs/audit/src/domain/event-filter';
import type { PublishedEvent } from '../../libs/audit/src/domain/published-event';
import type { HashedEvent } from '../../libs/audit/src/domain/published-events.port';
import { treeHashes } from '../../libs/audit/src/system/tree-hashes';
import { PublishedEventsTypeorm } from '../../libs/audit/src/typeorm/published-events.typeorm';
import { AuditSetting } from '../support/audit-setting';
import { operatorDataSource } from '../support/database-connection';

const BEGINNING: FeedStart = { kind: 'beginning' };

describe('The list of audit events', () => {
  let setting: AuditSetting;
  let source: DataSource;
  let published: PublishedEventsTypeorm;

  beforeAll(async () => {
    setting = await AuditSetting.open();
    // The owner sees every workspace: the queries must name theirs.
    source = await operatorDataSource(setting.database);
    published = new PublishedEventsTypeorm(new Database(source), treeHashes);
  });
  afterAll(async () => {
    await source.destroy();
    await setting.close();
  });

  const read = async (workspace: WorkspaceId, filter: EventFilter = {}, start: FeedStart = BEGINNING) =>
    (await published.read(workspace, filter, start, 100)).changes.map(({ sequence }) => sequence);

  it('has no event of another workspace, whatever the role may see', async () => {
    const [here, there] = [await setting.aWorkspace(), await setting.aWorkspace()];
    await setting.record(there, 3);
    await setting.seal(there);
    await setting.record(there, 1);

    expect(await read(here)).toEqual([]);
    expect(await read(here, { action: 'asset.updated' })).toEqual([]);
    expect(await read(here, {}, { kind: 'since', since: new Date(0) })).toEqual([]);
    expect((await published.read(here, {}, BEGINNING, 1)).oldestWaiting).toBeNull();
    await setting.record(here, 2);
    await setting.seal(here);
    expect(await read(here)).toEqual([1, 2]);
    expect(await read(here, { clientId: 'ci_test' })).toEqual([1, 2]);
  });

  it('has an event on each page, however few bytes a page may have', async () => {
    const workspace = await setting.aWorkspace();
    await setting.record(workspace, 2);
    await setting.seal(workspace);

    const first = await published.read(workspace, {}, BEGINNING, 100, 1);
    const second = await published.read(workspace, {}, { kind: 'position', position: first.position }, 100, 1);

    expect([first, second].map(({ changes, hasMore }) => [changes[0]?.sequence, changes.length, hasMore])).toEqual([
      [1, 1, true],
      [2, 1, false],
    ]);
  });

  it('is in the order of sequences, whatever the order of rows', async () => {
    const workspace = await setting.aWorkspace();
    await setting.record(workspace, 5);
    await setting.seal(workspace);
    // A new version of a row stands behind the others.
    for (const sequence of [1, 3]) {
      await setting.tamper(
        workspace,
        `UPDATE audit_event SET mac = mac WHERE workspace_id = $1 AND sequence = ${sequence}`,
      );
    }

    // Without an index Postgres reads rows as they are stored.
    await source.query('SET enable_indexscan = off; SET enable_bitmapscan = off');

    const [all, filtered] = [await read(workspace), await read(workspace, { clientId: 'ci_test' })];

    await source.query('RESET enable_indexscan; RESET enable_bitmapscan');
    expect(all).toEqual([1, 2, 3, 4, 5]);
    expect(filtered).toEqual([1, 2, 3, 4, 5]);
  });

  it('dates events by their seals, and never backwards', async () => {
    const workspace = await setting.aWorkspace();
    const clocks = [10_000, 5_000, 20_000];
    for (const clock of clocks) {
      await setting.record(workspace);
      await setting.seal(workspace, Date.UTC(2026, 0, 1) + clock);
    }

    const { changes } = await published.read(workspace, {}, BEGINNING, 100);

    const seconds = changes.map(({ recordedAt }) => (Date.parse(recordedAt) - Date.UTC(2026, 0, 1)) / 1_000);
    expect(seconds).toEqual([10, 10, 20]);
    const since = new Date(Date.UTC(2026, 0, 1) + 10_000);
    expect(await read(workspace, {}, { kind: 'since', since })).toEqual([1, 2, 3]);
    expect(await read(workspace, { until: new Date(since.getTime() + 1) })).toEqual([1, 2]);
  });

  it('lets other requests have their turn while it hashes a large page', async () => {
    const workspace = await setting.aWorkspace();
    await setting.record(workspace, 300);
    await setting.seal(workspace);
    const hashedInTurns = [0];
    const hashes = {
      ...treeHashes,
      leaf: (event: PublishedEvent) => {
        hashedInTurns[hashedInTurns.length - 1]! += 1;
        return treeHashes.leaf(event);
      },
    };
    let turn = setImmediate(function next() {
      hashedInTurns.push(0);
      turn = setImmediate(next);
    });

    const list = new PublishedEventsTypeorm(new Database(source), hashes);
    const { changes } = await list.read(workspace, {}, BEGINNING, 1_000);

    clearImmediate(turn);
    expect(changes).toHaveLength(300);
    expect(Math.max(...hashedInTurns)).toBeLessThanOrEqual(50);
  });

  describe('with the name of an actor', () => {
    const sealed = async (workspace: WorkspaceId): Promise<readonly HashedEvent[]> => {
      await setting.seal(workspace);
      return (await published.read(workspace, {}, BEGINNING, 100)).changes;
    };
    /** An unsealed event as an earlier release recorded it: without a name, in the row and under the MAC. */
    const recordedBefore = async (): Promise<WorkspaceId> => {
      const workspace = await setting.aWorkspace();
      await setting.record(workspace);
      for await (const event of setting.audit.list({ workspaceIds: [workspace] })) {
        const { actorName: _, ...others } = event;
        const mac = setting.evidence().eventMac(others as AuditEvent);
        await setting.database.admin.query(
          `UPDATE audit_event SET actor_name = NULL, mac = decode($3, 'hex') WHERE workspace_id = $1 AND id = $2`,
          [workspace, event.id, mac],
        );
      }
      return workspace;
    };

    it('has none for an application', async () => {
      const workspace = await setting.aWorkspace();
      await setting.record(workspace);

      expect((await sealed(workspace)).map(({ actor }) => actor)).toEqual([
        { type: 'APPLICATION', clientId: 'ci_test', name: null, personId: null },
      ]);
    });

    it('lacks it in an event of an earlier release, which keeps its code and its leaf hash', async () => {
      const workspace = await recordedBefore();

      const [event] = (await sealed(workspace)) as [HashedEvent];

      expect(event.actor).toEqual({ type: 'APPLICATION', clientId: 'ci_test' });
      const { leafHash, ...shown } = event;
      expect(leafHash).toBe(treeHashes.leaf(shown));
      expect(await setting.verify(workspace)).toBe('ok');
    });

    it('cannot be given one for such an event unseen', async () => {
      const workspace = await recordedBefore();
      await setting.seal(workspace);
      await setting.tamper(workspace, `UPDATE audit_event SET actor_name = '' WHERE workspace_id = $1`);

      expect(await setting.verify(workspace)).toMatchObject({ reason: expect.stringMatching(/MAC/) as string });
    });
  });
});
