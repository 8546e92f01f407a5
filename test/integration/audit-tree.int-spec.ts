import { randomUUID } from 'node:crypto';
import canonicalize from 'canonicalize';
import { Logger } from '@nestjs/common';
import type { WorkspaceId } from '#libs/kernel';
import { RFC9162 } from '@transmute/rfc9162';
import { publish } from '../../libs/audit/src/domain/published-event';
import { rootOf } from '../../libs/audit/src/domain/audit-tree';
import { treeHashes } from '../../libs/audit/src/system/tree-hashes';
import { AuditSetting } from '../support/audit-setting';

const NEXT = `workspace_id = $1 AND id = (
  SELECT id FROM audit_event WHERE workspace_id = $1 AND sequence IS NULL ORDER BY id LIMIT 1)`;

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
    const tree = await setting.checkpointStore().newest(workspace);
    return tree && { size: tree.size, root: rootOf(tree, treeHashes) };
  };
  /** The tree over the published events, by another implementation. */
  const published = async (workspace: WorkspaceId) => {
    const events = await setting.archiveStore().events(workspace, 0, 10_000);
    const entries = events.map((event, index) => {
      return Buffer.from(canonicalize(publish(event, index + 1, event.recordedAt)) ?? '');
    });
    return { size: entries.length, root: Buffer.from(await RFC9162.treeHead(entries)).toString('hex') };
  };

  it('holds every sealed event, whatever the batches', async () => {
    const workspace = await setting.aWorkspace();
    for (const count of [1, 2, 250, 3, 411]) {
      for (let left = count; left > 0; left -= 100) await setting.record(workspace, Math.min(left, 100));
      await setting.sealer().sealAll();
      expect(await stored(workspace)).toEqual(await published(workspace));
    }
    expect(await setting.sealer().sealAll()).toBe(0);
    expect((await stored(workspace))?.size).toBe(667);
  });

  it('takes in events that release 1.0.0 numbered, in their places', async () => {
    const workspace = await setting.aWorkspace();
    for (let update = 0; update < 5; update += 1) await setting.record(workspace, 90);
    // Another order than that of their ids.
    await setting.api.inTenant({ workspaceId: workspace }, (manager) =>
      manager.query(
        `SELECT seal_audit_events(array_agg(id ORDER BY mac), array_agg(mac ORDER BY mac), 1, now(), sha256(''), sha256(''))
           FROM audit_event WHERE workspace_id = $1`,
        [workspace],
      ),
    );
    const order = async (): Promise<unknown[]> => {
      const { rows } = await setting.database.admin.query<{ id: string }>(
        'SELECT id FROM audit_event WHERE workspace_id = $1 ORDER BY sequence',
        [workspace],
      );
      return rows.map(({ id }) => id);
    };
    const before = await order();
    expect(await setting.verify(workspace)).toBe('ok');

    expect(await setting.sealer().sealAll()).toBe(450);

    expect(await order()).toEqual(before);
    expect(await stored(workspace)).toEqual(await published(workspace));
    expect(await setting.verify(workspace)).toBe('ok');
    expect(await setting.sealer().sealAll()).toBe(0);
  });

  it('takes in an event that an instance of release 1.0.0 records during an upgrade', async () => {
    const workspace = await setting.aWorkspace();
    const link = 'ab'.repeat(32);
    const [id, occurredAt, assetId, applicationId] = [
      randomUUID(),
      new Date().toISOString(),
      randomUUID(),
      randomUUID(),
    ];
    const author = { applicationId, clientId: 'ci_old', requestId: 'r', keyHash: 'k' };
    const event = { workspaceId: workspace, id, occurredAt, kind: null, assetId, ...author, changes: {} };
    const anchor = { sequence: 7, link };
    const mac = setting.evidence().eventMac({ ...event, anchor });
    await setting.api.inTenant({ workspaceId: workspace }, (manager) =>
      manager.query(
        `INSERT INTO audit_event (workspace_id, id, occurred_at, asset_id, application_id, client_id, request_id, key_hash,
                changes, anchor_sequence, anchor_link, mac)
         VALUES ($1, $2, $3, $4, $5, 'ci_old', 'r', 'k', '{}', 7, decode($6, 'hex'), decode($7, 'hex'))`,
        [workspace, id, occurredAt, assetId, applicationId, link, mac],
      ),
    );

    expect(await setting.sealer().sealAll()).toBe(1);

    expect(await setting.verify(workspace)).toBe('ok');
  });

  it.each([
    ['the next event was altered', `UPDATE audit_event SET client_id = 'ci_x' WHERE ${NEXT}`],
    ['the next event stands in another place', `UPDATE audit_event SET sequence = 4 WHERE ${NEXT}`],
    ['the tree was altered', `UPDATE audit_checkpoint SET roots = ARRAY[mac] WHERE workspace_id = $1`],
    ['it was cut', 'UPDATE audit_checkpoint SET size = 1 WHERE workspace_id = $1'],
  ])('stays as it is when %s, and says so once', async (_what, statement) => {
    const workspace = await setting.aWorkspace();
    await setting.record(workspace, 2);
    await setting.sealer().sealAll();
    await setting.record(workspace, 2);
    await setting.tamper(workspace, statement);
    const before = await stored(workspace);
    const sealer = setting.sealer();

    for (let round = 0; round < 2; round += 1) await sealer.sealAll();

    expect(await stored(workspace)).toEqual(before);
    expect(errors).toHaveBeenCalledTimes(1);
    expect(Object.fromEntries(sealer.failures.entries())).toMatchObject({ altered: 2 });
    expect(await setting.verify(workspace)).toMatchObject({ reason: expect.any(String) as string });
    await setting.tamper(workspace, 'DELETE FROM audit_event WHERE workspace_id = $1');
    await setting.tamper(workspace, 'DELETE FROM audit_checkpoint WHERE workspace_id = $1');
  });
});
