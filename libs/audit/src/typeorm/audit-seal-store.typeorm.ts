import { Injectable } from '@nestjs/common';
import { type WorkspaceId, workspaceId as toWorkspaceId } from '#libs/kernel';
import { Database, bind, prepared } from '#libs/platform/database';
import { type EntityManager, IsNull, Not } from 'typeorm';
import { type ChainEnds, type SealedBatch, recordingTimes } from '../domain/audit-chain';
import type { AnchoredEvent } from '../domain/audit-event';
import { type AuditBacklog, AuditSealStore } from '../domain/audit-seal-store.port';
import {
  ANCHORED_EVENT_COLUMNS,
  AUDIT_FLOOR,
  AUDIT_HEAD,
  type AnchoredEventColumns,
  type AuditFloorColumns,
  type AuditHeadColumns,
  toAnchoredEvent,
  toAuditFloor,
  toAuditHead,
} from './audit-columns';
import { AuditSealRow } from './audit-proofs.row';

const WORKSPACES_TO_SEAL = prepared(
  'audit_workspaces_to_seal',
  `SELECT workspace_id FROM workspaces_to_seal() AS workspace_id
          UNION SELECT workspace_id FROM workspaces_to_publish() AS workspace_id
          UNION SELECT workspace_id FROM workspaces_to_grow()`,
);

const BACKLOG = prepared(
  'audit_backlog',
  `
    SELECT unsealed, (extract(epoch FROM oldest) * 1000)::bigint, pg_total_relation_size('audit_event'),
           (SELECT coalesce(sum(missing), 0) FROM workspaces_to_grow())
      FROM audit_backlog()`,
);

/** Released at the end of the transaction, even when the process is killed. */
const TRY_LOCK = `SELECT pg_try_advisory_xact_lock(hashtextextended('audit seal ' || $1, 0)) AS locked`;
const FIND_UNSEALED = `
  SELECT ${ANCHORED_EVENT_COLUMNS} FROM audit_event AS event
   WHERE workspace_id = $1 AND sequence IS NULL ORDER BY id LIMIT $2`;
const PUBLISH = 'SELECT publish_audit_seals($1::bigint[], $2::timestamptz[])';
const SEAL = `SELECT seal_audit_events($1::uuid[], $2::bytea[], $3, $4, decode($5, 'hex'), decode($6, 'hex'))`;

@Injectable()
export class AuditSealStoreTypeorm extends AuditSealStore {
  constructor(private readonly database: Database) {
    super();
  }

  async workspacesToSeal(): Promise<WorkspaceId[]> {
    const [rows = []] = await this.database.run({ outsideTenants: true }, [bind(WORKSPACES_TO_SEAL, [])]);
    return rows.map(([id]) => toWorkspaceId(id as string));
  }

  async backlog(): Promise<AuditBacklog> {
    const [[row] = []] = await this.database.run({ outsideTenants: true }, [bind(BACKLOG, [])]);
    const [unsealed, oldest = null, bytes, outsideTree] = row ?? [];
    const oldestAt = oldest === null ? null : new Date(Number(oldest));
    return { unsealed: Number(unsealed), oldestAt, bytes: Number(bytes), outsideTree: Number(outsideTree) };
  }

  async sealNext(
    workspaceId: WorkspaceId,
    limit: number,
    seal: (before: ChainEnds, events: readonly AnchoredEvent[]) => SealedBatch,
  ): Promise<number | null> {
    return this.database.inTenant({ workspaceId }, async (manager) => {
      if (!(await tryLock(manager, workspaceId))) return null;
      const [head] = await manager.query<AuditHeadColumns[]>(AUDIT_HEAD, [workspaceId]);
      const rows = await manager.query<AnchoredEventColumns[]>(FIND_UNSEALED, [workspaceId, limit]);
      if (rows.length === 0) return 0;
      const [floor] = await manager.query<AuditFloorColumns[]>(AUDIT_FLOOR, [workspaceId]);
      const ends = {
        head: head ? toAuditHead(head) : null,
        floor: floor ? toAuditFloor(workspaceId, floor) : null,
      };
      const batch = seal(ends, rows.map(toAnchoredEvent));
      await manager.query(SEAL, [
        batch.events.map(({ id }) => id),
        batch.events.map(({ link }) => Buffer.from(link, 'hex')),
        batch.seal.firstSequence,
        batch.seal.sealedAt,
        batch.seal.mac,
        batch.head.mac,
      ]);
      return batch.events.length;
    });
  }

  async publishNext(workspaceId: WorkspaceId, limit: number): Promise<number | null> {
    return this.database.inTenant({ workspaceId }, async (manager) => {
      if (!(await tryLock(manager, workspaceId))) return null;
      const seals = manager.getRepository(AuditSealRow);
      const [published] = await seals.find({
        where: { workspace_id: workspaceId, recorded_at: Not(IsNull()) },
        order: { recorded_at: 'DESC', last_sequence: 'DESC' },
        take: 1,
      });
      const waiting = await seals.find({
        where: { workspace_id: workspaceId, recorded_at: IsNull() },
        order: { last_sequence: 'ASC' },
        take: limit,
      });
      if (waiting.length === 0) return 0;
      const times = recordingTimes(
        published?.recorded_at ?? null,
        waiting.map(({ sealed_at }) => sealed_at),
      );
      await manager.query(PUBLISH, [waiting.map(({ last_sequence }) => last_sequence), times]);
      return waiting.length;
    });
  }
}

/** A statement of its own, and the first: later reads must not see a half-finished seal of another instance. */
export async function tryLock(manager: EntityManager, workspaceId: WorkspaceId): Promise<boolean> {
  const [lock] = await manager.query<{ locked: boolean }[]>(TRY_LOCK, [workspaceId]);
  return lock?.locked ?? false;
}
