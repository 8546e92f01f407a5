import type { WorkspaceId } from '#libs/kernel';
import type { AuditEvent } from '../../libs/audit/src/domain/audit-event';
import type { HashedEvent } from '../../libs/audit/src/domain/published-events.port';
import { treeHashes } from '../../libs/audit/src/system/tree-hashes';
import { PublishedEventsTypeorm } from '../../libs/audit/src/typeorm/published-events.typeorm';
import { AuditSetting } from '../support/audit-setting';

describe('The name of an actor in the audit', () => {
  let setting: AuditSetting;
  beforeAll(async () => (setting = await AuditSetting.open()));
  afterAll(() => setting.close());

  const published = async (workspace: WorkspaceId): Promise<readonly HashedEvent[]> => {
    await setting.seal(workspace);
    const events = new PublishedEventsTypeorm(setting.api, treeHashes);
    return (await events.read(workspace, {}, { kind: 'beginning' }, 100)).changes;
  };
  /** Leaves unsealed events as an earlier release recorded them: without a name, in the row and under the MAC. */
  const recordedBefore = async (workspace: WorkspaceId): Promise<void> => {
    for await (const event of setting.audit.list({ workspaceIds: [workspace] })) {
      const { actorName: _, ...others } = event;
      const mac = setting.evidence().eventMac(others as AuditEvent);
      await setting.database.admin.query(
        `UPDATE audit_event SET actor_name = NULL, mac = decode($3, 'hex') WHERE workspace_id = $1 AND id = $2`,
        [workspace, event.id, mac],
      );
    }
  };

  it('is null for an application', async () => {
    const workspace = await setting.aWorkspace();
    await setting.record(workspace);

    expect((await published(workspace)).map(({ actor }) => actor)).toEqual([
      { type: 'APPLICATION', clientId: 'ci_test', name: null, personId: null },
    ]);
  });

  it('is absent in an event of an earlier release, which keeps its code and its leaf hash', async () => {
    const workspace = await setting.aWorkspace();
    await setting.record(workspace);
    await recordedBefore(workspace);

    const [event] = (await published(workspace)) as [HashedEvent];

    expect(event.actor).toEqual({ type: 'APPLICATION', clientId: 'ci_test' });
    const { leafHash, ...shown } = event;
    expect(leafHash).toBe(treeHashes.leaf(shown));
    expect(await setting.verify(workspace)).toBe('ok');
  });

  it('cannot be given to such an event unseen', async () => {
    const workspace = await setting.aWorkspace();
    await setting.record(workspace);
    await recordedBefore(workspace);
    await setting.seal(workspace);
    await setting.tamper(workspace, `UPDATE audit_event SET actor_name = '' WHERE workspace_id = $1`);

    expect(await setting.verify(workspace)).toMatchObject({ reason: expect.stringMatching(/MAC/) as string });
  });
});
