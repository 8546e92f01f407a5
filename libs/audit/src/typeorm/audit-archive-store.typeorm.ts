import type { WorkspaceId } from '#libs/kernel';
import type { Database } from '#libs/platform/database';
import { LessThanOrEqual } from 'typeorm';
import { type ArchivePlan, ArchiveRefused, AuditArchiveStore } from '../domain/audit-archive-store.port';
import type { AuditFloor } from '../domain/audit-floor';
import type { EventOfTree } from '../domain/tree-growth';
import {
  AUDIT_FLOOR,
  AUDIT_TREE,
  type AuditFloorColumns,
  type AuditTreeRow,
  EVENTS_OF_TREE,
  type EventOfTreeRow,
  toAuditFloor,
  toAuditTree,
  toEventOfTree,
} from './audit-columns';
import { AuditEventRow } from './audit-event.row';
import { AuditSealRow } from './audit-seal.row';

/** The list, and the times of later seals, go on from the newest published seal. */
const LAST = `
  SELECT seal.last_sequence FROM audit_seal AS seal
   WHERE seal.workspace_id = $1 AND seal.recorded_at < $2 AND seal.last_sequence > $3 AND seal.last_sequence <= $4
     AND seal.last_sequence < (SELECT max(newest.last_sequence) FROM audit_seal AS newest
                                WHERE newest.workspace_id = $1 AND newest.recorded_at IS NOT NULL)
     AND NOT EXISTS (SELECT FROM audit_event AS unsealed
                      WHERE unsealed.workspace_id = $1 AND unsealed.sequence IS NULL
                        AND unsealed.anchor_sequence < seal.last_sequence)
   ORDER BY seal.last_sequence DESC LIMIT 1`;

/** Changes nothing where another run has moved the floor: $7 is the floor that this one began with, or 0. */
const RAISE = `
  INSERT INTO audit_floor AS floor (workspace_id, sequence, link, roots, recorded_at, mac)
  VALUES ($1, $2, decode($3, 'hex'), ARRAY(SELECT decode(root, 'hex') FROM unnest($4::text[]) AS root), $5,
          decode($6, 'hex'))
  ON CONFLICT (workspace_id) DO UPDATE
     SET sequence = excluded.sequence, link = excluded.link, roots = excluded.roots,
         recorded_at = excluded.recorded_at, mac = excluded.mac
   WHERE floor.sequence = $7
  RETURNING floor.sequence`;

/** Works as the owner: the API's role may remove nothing. */
export class AuditArchiveStoreTypeorm extends AuditArchiveStore {
  constructor(private readonly database: Database) {
    super();
  }

  async plan(workspaceId: WorkspaceId, before: Date): Promise<ArchivePlan | null> {
    return this.database.transaction({ workspaceId }, async (manager) => {
      const [floorRow] = await manager.query<AuditFloorColumns[]>(AUDIT_FLOOR, [workspaceId]);
      const [treeRow] = await manager.query<AuditTreeRow[]>(AUDIT_TREE, [workspaceId]);
      if (!treeRow) return null;
      const floor = floorRow ? toAuditFloor(workspaceId, floorRow) : null;
      const tree = toAuditTree(workspaceId, treeRow);
      const range = [floor?.size ?? 0, tree.size];
      const [last] = await manager.query<{ last_sequence: string }[]>(LAST, [workspaceId, before, ...range]);
      return last ? { floor, tree, last: Number(last.last_sequence) } : null;
    });
  }

  async events(workspaceId: WorkspaceId, after: number, limit: number): Promise<EventOfTree[]> {
    return this.database.transaction({ workspaceId }, async (manager) => {
      const rows = await manager.query<EventOfTreeRow[]>(EVENTS_OF_TREE, [workspaceId, after, limit]);
      return rows.map(toEventOfTree);
    });
  }

  async remove(before: AuditFloor | null, floor: AuditFloor): Promise<void> {
    const { workspaceId, size, link, roots, recordedAt, mac } = floor;
    const from = before?.size ?? 0;
    await this.database.transaction({ workspaceId }, async (manager) => {
      const raised = await manager.query<unknown[]>(RAISE, [workspaceId, size, link, roots, recordedAt, mac, from]);
      if (raised.length === 0) throw new ArchiveRefused('Another run archives these events.');
      const upTo = LessThanOrEqual(String(size));
      const { affected } = await manager.delete(AuditEventRow, { workspace_id: workspaceId, sequence: upTo });
      if (affected !== size - from) throw new ArchiveRefused('The events changed meanwhile; audit verify tells more.');
      await manager.delete(AuditSealRow, { workspace_id: workspaceId, last_sequence: upTo });
    });
  }
}
