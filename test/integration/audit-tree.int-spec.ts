import canonicalize from 'canonicalize';
import { Logger } from '@nestjs/common';
import type { WorkspaceId } from '#libs/kernel';
import { RFC9162 } from '@transmute/rfc9162';
import { publish } from '../../libs/audit/src/domain/published-event';
import { rootOf } from '../../libs/audit/src/domain/audit-tree';
import { treeHashes } from '../../libs/audit/src/system/tree-hashes';
import { EVENTS_OF_TREE, type EventOfTreeColumns, toEventOfTree } from '../../libs/audit/src/typeorm/audit-columns';
import { AuditTreeStoreTypeorm } from '../../libs/audit/src/typeorm/audit-tree-store.typeorm';
import { AuditSetting } from '../support/audit-setting';

describe('The Merkle tree of the audit', () => {
  let setting: AuditSetting;
  let errors: jest.SpyInstance;
  beforeAll(async () => (setting = await AuditSetting.open()));
  afterAll(() => setting.close());
  beforeEach(() => {
    errors = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
  });
  afterEach(() => jest.restoreAllMocks());

  const stored = async (workspace: WorkspaceId) => {
    const tree = await new AuditTreeStoreTypeorm(setting.api).find(workspace);
    return tree && { size: tree.size, root: rootOf(tree, treeHashes) };
  };
  /** The tree over the published events, by another implementation. */
  const published = async (workspace: WorkspaceId) => {
    const { rows } = await setting.database.admin.query<EventOfTreeColumns>(EVENTS_OF_TREE, [workspace, 0, 10_000]);
    const entries = rows.map(toEventOfTree).map((event, index) => {
      return Buffer.from(canonicalize(publish(event, index + 1, event.recordedAt)) ?? '');
    });
    return { size: entries.length, root: Buffer.from(await RFC9162.treeHead(entries)).toString('hex') };
  };

  it('holds every published event once it is sealed, whatever the batches', async () => {
    const workspace = await setting.aWorkspace();
    for (const count of [1, 2, 250, 3, 411]) {
      for (let left = count; left > 0; left -= 100) await setting.record(workspace, Math.min(left, 100));
      await setting.sealer().sealAll();
      expect(await stored(workspace)).toEqual(await published(workspace));
    }
    expect(await setting.sealer().sealAll()).toBe(0);
    expect((await stored(workspace))?.size).toBe(667);
  });

  it('takes in events that were sealed before there was a tree', async () => {
    const workspace = await setting.aWorkspace();
    for (let update = 0; update < 5; update += 1) await setting.record(workspace, 90);
    await setting.sealer().sealAll();
    const before = await stored(workspace);
    await setting.tamper(workspace, 'DELETE FROM audit_tree WHERE workspace_id = $1');
    expect((await setting.sealStore().backlog()).outsideTree).toBe(450);

    await setting.sealer().sealAll();

    expect(await stored(workspace)).toEqual(before);
    expect((await setting.sealStore().backlog()).outsideTree).toBe(0);
  });

  it('grows the same while instances seal at once', async () => {
    const workspace = await setting.aWorkspace();
    const rivals = [setting.sealer(), setting.sealer(await setting.anotherInstance())];
    for (let update = 0; update < 12; update += 1) {
      await setting.record(workspace, 60);
      await Promise.all(rivals.map((rival) => rival.sealAll()));
    }
    await setting.sealer().sealAll();
    expect(await stored(workspace)).toEqual(await published(workspace));
  });

  it.each([
    [
      'the next event was altered',
      `UPDATE audit_event SET client_id = 'ci_x' WHERE workspace_id = $1 AND sequence = 3`,
    ],
    ['the next event was removed', 'DELETE FROM audit_event WHERE workspace_id = $1 AND sequence = 3'],
    [
      'the time of recording of the next event was altered',
      `UPDATE audit_seal SET recorded_at = recorded_at + interval '1 ms' WHERE workspace_id = $1 AND last_sequence = 4`,
    ],
    [
      'the time of its seal was altered with it',
      `UPDATE audit_seal SET recorded_at = recorded_at + interval '1 ms', sealed_at = recorded_at + interval '1 ms'
        WHERE workspace_id = $1 AND last_sequence = 4`,
    ],
    ['the tree was altered', `UPDATE audit_tree SET roots = ARRAY[link] WHERE workspace_id = $1`],
  ])('stays as it is when %s, and says so once', async (_what, statement) => {
    const workspace = await setting.aWorkspace();
    await setting.record(workspace, 2);
    await setting.sealer().sealAll();
    await setting.record(workspace, 2);
    await setting.seal(workspace);
    await setting.tamper(workspace, statement);
    const sealer = setting.sealer();

    for (let round = 0; round < 2; round += 1) await sealer.sealAll();

    expect((await stored(workspace))?.size).toBe(2);
    expect(errors).toHaveBeenCalledTimes(1);
    expect(Object.fromEntries(sealer.failures.entries())).toMatchObject({ altered: 2 });
    await setting.tamper(workspace, 'DELETE FROM audit_event WHERE workspace_id = $1');
    for (const table of ['audit_seal', 'audit_head', 'audit_tree']) {
      await setting.tamper(workspace, `DELETE FROM ${table} WHERE workspace_id = $1`);
    }
  });

  const OTHER = `decode('${'5a'.repeat(32)}', 'hex')`;
  it.each([
    ['size', 6, 'size = 6'],
    ['size beyond the events', 8, 'size = 700'],
    ['link', 7, `link = ${OTHER}`],
    ['roots', 7, `roots[2] = ${OTHER}`],
    ['roots, one less', 7, 'roots = roots[1:2]'],
    ['mac', 7, `mac = ${OTHER}`],
  ])('does not verify for operators after an edit of its %s', async (_column, sequence, change) => {
    const workspace = await setting.aWorkspace();
    await setting.record(workspace, 7);
    await setting.sealer().sealAll();
    expect(await setting.verify(workspace)).toBe('ok');

    await setting.tamper(workspace, `UPDATE audit_tree SET ${change} WHERE workspace_id = $1`);

    expect(await setting.verify(workspace)).toMatchObject({ sequence, reason: expect.any(String) as string });
    await setting.tamper(workspace, 'DELETE FROM audit_event WHERE workspace_id = $1');
    for (const table of ['audit_seal', 'audit_head']) {
      await setting.tamper(workspace, `DELETE FROM ${table} WHERE workspace_id = $1`);
    }
    await setting.database.admin.query('DELETE FROM audit_tree');
  });

  it('cannot be changed by the runtime role', async () => {
    const workspace = await setting.aChain();
    await setting.sealer().sealAll();
    for (const statement of ['DELETE FROM audit_tree', 'UPDATE audit_tree SET size = 1', 'DELETE FROM audit_event']) {
      const change = setting.api.inTenant({ workspaceId: workspace }, (manager) => manager.query(statement));
      await expect(change).rejects.toThrow(/permission denied/);
    }
  });
});
