import type { WorkspaceId } from '#libs/kernel';
import type { Database } from '#libs/platform/database';
import { type EntityManager, LessThan, LessThanOrEqual } from 'typeorm';
import {
  type ArchivePlan,
  AuditArchiveStore,
  EventsGone,
  EventsLeft,
  type SealedEvent,
} from '../domain/audit-archive-store.port';
import type { AuditCheckpoint } from '../domain/audit-checkpoint';
import {
  CHECKPOINT_COLUMNS,
  type CheckpointColumns,
  SELECT_SEALED,
  type SealedEventColumns,
  toCheckpoint,
  toSealedEvent,
} from './audit-columns';
import { AuditCheckpointRow } from './audit-checkpoint.row';
import { AuditEventRow } from './audit-event.row';

const FLOOR = `SELECT ${CHECKPOINT_COLUMNS} FROM audit_checkpoint WHERE workspace_id = $1 AND is_floor`;
/** The list, and the times of later checkpoints, go on from the newest one, unless all is archived. */
const END = `
  SELECT ${CHECKPOINT_COLUMNS} FROM audit_checkpoint AS kept
   WHERE workspace_id = $1 AND NOT is_floor
     AND ($2::timestamptz IS NULL OR recorded_at < $2
          AND size < (SELECT max(size) FROM audit_checkpoint AS newest WHERE newest.workspace_id = kept.workspace_id))
   ORDER BY size DESC LIMIT 1`;

const EVENTS = `${SELECT_SEALED} AND sequence > $2 ORDER BY sequence LIMIT $3`;

/** Nothing writes to these tables any more. */
const OF_RELEASE_1_0_0 = ['audit_seal', 'audit_head'];

/** Works as the owner: the API's role may remove nothing. */
export class AuditArchiveStoreTypeorm extends AuditArchiveStore {
  constructor(private readonly database: Database) {
    super();
  }

  async plan(workspaceId: WorkspaceId, before: Date | null): Promise<ArchivePlan | null> {
    return this.database.inTenant({ workspaceId }, async (manager) => {
      const [floor] = await manager.query<CheckpointColumns[]>(FLOOR, [workspaceId]);
      const [end] = await manager.query<CheckpointColumns[]>(END, [workspaceId, before]);
      return end ? { floor: floor ? toCheckpoint(floor) : null, end: toCheckpoint(end) } : null;
    });
  }

  async events(workspaceId: WorkspaceId, after: number, limit: number): Promise<SealedEvent[]> {
    return this.database.inTenant({ workspaceId }, async (manager) => {
      const rows = await manager.query<SealedEventColumns[]>(EVENTS, [workspaceId, after, limit]);
      return rows.map(toSealedEvent);
    });
  }

  async remove(first: number, { workspaceId, size, mac }: AuditCheckpoint): Promise<void> {
    const here = { workspace_id: workspaceId };
    await this.database.inTenant({ workspaceId }, async (manager) => {
      // Runs at once take turns, and the second one finds the events gone.
      await manager.query(`SELECT pg_advisory_xact_lock(hashtextextended('audit archive ' || $1, 0))`, [workspaceId]);
      const upTo = LessThanOrEqual(String(size));
      const { affected } = await manager.delete(AuditEventRow, { ...here, sequence: upTo });
      if (affected !== size - first + 1) throw new EventsGone();
      await manager.delete(AuditCheckpointRow, { ...here, size: LessThan(String(size)) });
      const floor = { is_floor: true, mac: Buffer.from(mac, 'hex') };
      await manager.update(AuditCheckpointRow, { ...here, size: String(size) }, floor);
    });
  }
}

/**
 * Removes the checkpoints of a workspace, in the transaction that removes the workspace. A workspace that stays without
 * them would begin a second tree, and contradict its earlier checkpoints.
 * @throws `EventsLeft` when it has events
 */
export async function forgetAudit(manager: EntityManager, workspaceId: WorkspaceId): Promise<void> {
  const here = { workspace_id: workspaceId };
  if (await manager.existsBy(AuditEventRow, here)) throw new EventsLeft();
  await manager.delete(AuditCheckpointRow, here);
  for (const table of OF_RELEASE_1_0_0)
    await manager.query(`DELETE FROM ${table} WHERE workspace_id = $1`, [workspaceId]);
}
