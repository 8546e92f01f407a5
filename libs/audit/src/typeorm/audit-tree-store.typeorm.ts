import { Injectable } from '@nestjs/common';
import type { WorkspaceId } from '#libs/kernel';
import { Database, bind, prepared } from '#libs/platform/database';
import type { EntityManager } from 'typeorm';
import type { AuditTree } from '../domain/audit-tree';
import { AuditTreeStore } from '../domain/audit-tree-store.port';
import type { EventOfTree } from '../domain/tree-growth';
import {
  AUDIT_TREE,
  type AuditTreeColumns,
  EVENTS_OF_TREE,
  type EventOfTreeColumns,
  toAuditTree,
  toEventOfTree,
} from './audit-columns';
import { tryLock } from './audit-seal-store.typeorm';

/** One round trip, for checkpoints. */
const FIND = prepared('audit_find_tree', AUDIT_TREE);

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
    const [size, link, mac, roots] = (row ?? []) as string[];
    return row ? toAuditTree(workspaceId, { size, link, mac, roots } as AuditTreeColumns) : null;
  }

  async growNext(
    workspaceId: WorkspaceId,
    limit: number,
    grow: (before: AuditTree | null, events: readonly EventOfTree[]) => AuditTree,
  ): Promise<number | null> {
    return this.database.inTenant({ workspaceId }, async (manager) => {
      if (!(await tryLock(manager, workspaceId))) return null;
      const before = await findTree(manager, workspaceId);
      const size = before?.size ?? 0;
      const rows = await manager.query<EventOfTreeColumns[]>(EVENTS_OF_TREE, [workspaceId, size, limit]);
      if (rows.length === 0) return 0;
      const after = grow(before, rows.map(toEventOfTree));
      await manager.query(GROW, [size, after.size, after.link, after.roots, after.mac]);
      return after.size - size;
    });
  }
}

async function findTree(manager: EntityManager, workspaceId: WorkspaceId): Promise<AuditTree | null> {
  const [row] = await manager.query<AuditTreeColumns[]>(AUDIT_TREE, [workspaceId]);
  return row ? toAuditTree(workspaceId, row) : null;
}
