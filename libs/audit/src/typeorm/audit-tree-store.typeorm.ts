import { Injectable } from '@nestjs/common';
import { type WorkspaceId, workspaceId as toWorkspaceId } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import type { EntityManager } from 'typeorm';
import type { AuditTree } from '../domain/audit-tree';
import { AuditTreeStore } from '../domain/audit-tree-store.port';
import type { EventOfTree } from '../domain/tree-growth';
import { EVENTS_OF_TREE, type EventOfTreeRow, toEventOfTree } from './audit-columns';
import { tryLock } from './audit-seal-store.typeorm';
import { AuditTreeRow } from './audit-tree.row';

const GROW = `
  SELECT grow_audit_tree($1, $2, decode($3, 'hex'),
                         ARRAY(SELECT decode(root, 'hex') FROM unnest($4::text[]) AS root), decode($5, 'hex'))`;

@Injectable()
export class AuditTreeStoreTypeorm extends AuditTreeStore {
  constructor(private readonly database: Database) {
    super();
  }

  async find(workspaceId: WorkspaceId): Promise<AuditTree | null> {
    return this.database.transaction({ workspaceId }, (manager) => findTree(manager, workspaceId));
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

export async function findTree(manager: EntityManager, workspaceId: WorkspaceId): Promise<AuditTree | null> {
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
