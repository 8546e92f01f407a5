import type { WorkspaceId } from '#libs/kernel';
import type { Database } from '#libs/platform/database';
import { LessThanOrEqual } from 'typeorm';
import { type ArchivePlan, AuditArchiveStore, EventsGone } from '../domain/audit-archive-store.port';
import type { EventOfTree } from '../domain/tree-growth';
import {
  AUDIT_FLOOR,
  AUDIT_TREE,
  type AuditFloorColumns,
  type AuditTreeColumns,
  EVENTS_OF_TREE,
  type EventOfTreeColumns,
  toAuditFloor,
  toAuditTree,
  toEventOfTree,
} from './audit-columns';
import { AuditEventRow } from './audit-event.row';
import { AuditFloorRow, AuditSealRow } from './audit-proofs.row';
import type { AuditFloor } from '../domain/audit-tree';

/** The list, and the times of later seals, go on from the newest published seal. */
const LAST = `
  SELECT seal.last_sequence FROM audit_seal AS seal
   WHERE seal.workspace_id = $1 AND seal.recorded_at < $2 AND seal.last_sequence <= $3
     AND seal.last_sequence < (SELECT max(newest.last_sequence) FROM audit_seal AS newest
                                WHERE newest.workspace_id = $1 AND newest.recorded_at IS NOT NULL)
     AND NOT EXISTS (SELECT FROM audit_event AS unsealed
                      WHERE unsealed.workspace_id = $1 AND unsealed.sequence IS NULL
                        AND unsealed.anchor_sequence < seal.last_sequence)
   ORDER BY seal.last_sequence DESC LIMIT 1`;

/** Works as the owner: the API's role may remove nothing. */
export class AuditArchiveStoreTypeorm extends AuditArchiveStore {
  constructor(private readonly database: Database) {
    super();
  }

  async plan(workspaceId: WorkspaceId, before: Date): Promise<ArchivePlan | null> {
    return this.database.inTenant({ workspaceId }, async (manager) => {
      const [floorRow] = await manager.query<AuditFloorColumns[]>(AUDIT_FLOOR, [workspaceId]);
      const [treeRow] = await manager.query<AuditTreeColumns[]>(AUDIT_TREE, [workspaceId]);
      if (!treeRow) return null;
      const floor = floorRow ? toAuditFloor(workspaceId, floorRow) : null;
      const tree = toAuditTree(workspaceId, treeRow);
      const [last] = await manager.query<{ last_sequence: string }[]>(LAST, [workspaceId, before, tree.size]);
      return last ? { floor, tree, last: Number(last.last_sequence) } : null;
    });
  }

  async events(workspaceId: WorkspaceId, after: number, limit: number): Promise<EventOfTree[]> {
    return this.database.inTenant({ workspaceId }, async (manager) => {
      const rows = await manager.query<EventOfTreeColumns[]>(EVENTS_OF_TREE, [workspaceId, after, limit]);
      return rows.map(toEventOfTree);
    });
  }

  async remove(first: number, floor: AuditFloor): Promise<void> {
    const { workspaceId, size, link, roots, recordedAt, mac } = floor;
    await this.database.inTenant({ workspaceId }, async (manager) => {
      // First: runs at once take turns by the floor, and the second one finds the events gone.
      await manager.upsert(
        AuditFloorRow,
        {
          workspace_id: workspaceId,
          sequence: String(size),
          link: bytes(link),
          roots: roots.map(bytes),
          recorded_at: new Date(recordedAt),
          mac: bytes(mac),
        },
        ['workspace_id'],
      );
      const upTo = LessThanOrEqual(String(size));
      const { affected } = await manager.delete(AuditEventRow, { workspace_id: workspaceId, sequence: upTo });
      if (affected !== size - first + 1) throw new EventsGone();
      await manager.delete(AuditSealRow, { workspace_id: workspaceId, last_sequence: upTo });
    });
  }
}

const bytes = (hexadecimal: string): Buffer => Buffer.from(hexadecimal, 'hex');
