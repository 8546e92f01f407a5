import { Injectable } from '@nestjs/common';
import { type WorkspaceId, workspaceId as toWorkspaceId } from '#libs/kernel';
import { Database, type Statement, bind } from '#libs/platform/database';
import type { EntityManager } from 'typeorm';
import type { AuditTree } from '../domain/audit-tree';
import { AuditTreeStore } from '../domain/audit-tree-store.port';
import type { EventOfTree } from '../domain/tree-growth';
import { EVENTS_OF_TREE, type EventOfTreeRow, toEventOfTree } from './audit-columns';
import { tryLock } from './audit-seal-store.typeorm';
import { AuditTreeRow } from './audit-tree.row';

/** One round trip, for checkpoints. */
const FIND: Statement = {
  name: 'audit_find_tree_1',
  text: `
    SELECT size, encode(link, 'hex'), encode(mac, 'hex'),
           (SELECT string_agg(encode(root, 'hex'), ' ' ORDER BY place)
              FROM unnest(roots) WITH ORDINALITY AS part (root, place))
      FROM audit_tree WHERE workspace_id = $1`,
};

const GROW = `
  SELECT grow_audit_tree($1, $2, decode($3, 'hex'),
                         ARRAY(SELECT decode(root, 'hex') FROM unnest($4::text[]) AS root), decode($5, 'hex'))`;

@Injectable()
export class AuditTreeStoreTypeorm extends AuditTreeStore {
  constructor(private readonly database: Database) {
    super();
  }

  async find(workspaceId: WorkspaceId): Promise<AuditTree | null> {
    const [[row] = []] = await this.database.run({ workspaceId }, [bind(FIND, [workspaceId])]);
    if (!row) return null;
    const [size, link, mac, roots] = row as string[];
    return { workspaceId, size: Number(size), link: link ?? '', mac: mac ?? '', roots: (roots ?? '').split(' ') };
  }

  async growNext(
    workspaceId: WorkspaceId,
    limit: number,
    grow: (before: AuditTree | null, events: readonly EventOfTree[]) => AuditTree,
  ): Promise<number | null> {
    return this.database.transaction({ workspaceId }, async (manager) => {
      if (!(await tryLock(manager, workspaceId))) return null;
      const before = await findTree(manager, workspaceId);
      const size = before?.size ?? 0;
      const rows = await manager.query<EventOfTreeRow[]>(EVENTS_OF_TREE, [workspaceId, size, limit]);
      if (rows.length === 0) return 0;
      const after = grow(before, rows.map(toEventOfTree));
      await manager.query(GROW, [size, after.size, after.link, after.roots, after.mac]);
      return after.size - size;
    });
  }
}

async function findTree(manager: EntityManager, workspaceId: WorkspaceId): Promise<AuditTree | null> {
  const row = await manager.findOneBy(AuditTreeRow, { workspace_id: workspaceId });
  return row && toAuditTree(row);
}

const toAuditTree = ({ workspace_id, size, link, roots, mac }: AuditTreeRow): AuditTree => ({
  workspaceId: toWorkspaceId(workspace_id),
  size: Number(size),
  link: link.toString('hex'),
  roots: roots.map((root) => root.toString('hex')),
  mac: mac.toString('hex'),
});
