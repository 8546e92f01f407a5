import { Injectable } from '@nestjs/common';
import { type WorkspaceId, workspaceId as toWorkspaceId } from '#libs/kernel';
import { Database, bind, prepared } from '#libs/platform/database';
import type { AuditCheckpoint } from '../domain/audit-checkpoint';
import { type AuditBacklog, AuditCheckpointStore, type SealedBatch } from '../domain/audit-checkpoint-store.port';
import type { RecordedEvent } from '../domain/audit-event';
import {
  type AuditEventColumns,
  CHECKPOINT_COLUMNS,
  type CheckpointColumns,
  EVENT_COLUMNS,
  toCheckpoint,
  toRecordedEvent,
} from './audit-columns';

const WORKSPACES_TO_SEAL = prepared('audit_workspaces_to_seal', 'SELECT * FROM workspaces_to_extend()');

const BACKLOG = prepared(
  'audit_backlog',
  `
    SELECT unsealed, (extract(epoch FROM oldest) * 1000)::bigint, pg_total_relation_size('audit_event')
      FROM audit_backlog()`,
);

const NEWEST = `
  SELECT ${CHECKPOINT_COLUMNS} FROM audit_checkpoint WHERE workspace_id = $1 ORDER BY size DESC LIMIT 1`;
/** One round trip, for clients. */
const FIND_NEWEST = prepared('audit_find_newest_checkpoint', NEWEST);

/**
 * Released at the end of the transaction, even when the process is killed. A statement of its own, and the first: later
 * reads must not see a half-finished seal of another instance.
 */
const TRY_LOCK = `
  SELECT pg_try_advisory_xact_lock(hashtextextended('audit seal ' || $1, 0)) AS locked, clock_timestamp() AS now`;
/** Events that release 1.0.0 numbered come first, in their order. Each comes with the length of its text. */
const WAITING = `
  DECLARE waiting NO SCROLL CURSOR FOR
  SELECT *, octet_length(changes::text) AS bytes FROM (
    SELECT * FROM (
        (SELECT ${EVENT_COLUMNS} FROM audit_event WHERE workspace_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3)
        UNION ALL
        (SELECT ${EVENT_COLUMNS} FROM audit_event WHERE workspace_id = $1 AND sequence IS NULL ORDER BY id LIMIT $3)) AS event
     ORDER BY sequence NULLS LAST, id LIMIT $3) AS batch`;
/** Events of one batch are all in memory together, and one may have megabytes. */
const MOST_BYTES = 10_000_000;
const FETCH = 'FETCH 4 FROM waiting';
const SEAL = `SELECT extend_audit($1::uuid[], $2::bigint, $3::bytea[], $4::timestamptz, $5::bytea)`;

@Injectable()
export class AuditCheckpointStoreTypeorm extends AuditCheckpointStore {
  constructor(private readonly database: Database) {
    super();
  }

  async newest(workspaceId: WorkspaceId): Promise<AuditCheckpoint | null> {
    const [[row] = []] = await this.database.read({ workspaceId }, [bind(FIND_NEWEST, [workspaceId])]);
    if (!row) return null;
    const [workspace_id, size, recorded_at, last_event, is_floor, mac, roots] = row as string[];
    return toCheckpoint({ workspace_id, size, recorded_at, last_event, is_floor, mac, roots } as CheckpointColumns);
  }

  async workspacesToSeal(): Promise<WorkspaceId[]> {
    const [rows = []] = await this.database.run({ outsideTenants: true }, [bind(WORKSPACES_TO_SEAL, [])]);
    return rows.map(([id]) => toWorkspaceId(id as string));
  }

  async backlog(): Promise<AuditBacklog> {
    const [[row] = []] = await this.database.run({ outsideTenants: true }, [bind(BACKLOG, [])]);
    const [unsealed, oldest = null, bytes] = row ?? [];
    const oldestAt = oldest === null ? null : new Date(Number(oldest));
    return { unsealed: Number(unsealed), oldestAt, bytes: Number(bytes) };
  }

  async sealNext(
    workspaceId: WorkspaceId,
    limit: number,
    seal: (before: AuditCheckpoint | null, events: readonly RecordedEvent[], now: number) => AuditCheckpoint,
  ): Promise<SealedBatch | null> {
    return this.database.inTenant({ workspaceId }, async (manager) => {
      const [lock] = await manager.query<{ locked: boolean; now: Date }[]>(TRY_LOCK, [workspaceId]);
      if (lock?.locked !== true) return null;
      const [row] = await manager.query<CheckpointColumns[]>(NEWEST, [workspaceId]);
      const before = row ? toCheckpoint(row) : null;
      const size = before?.size ?? 0;
      await manager.query(WAITING, [workspaceId, size, limit]);
      const waiting: AuditEventColumns[] = [];
      let bytes = 0;
      while (bytes < MOST_BYTES) {
        const fetched = await manager.query<(AuditEventColumns & { bytes: number })[]>(FETCH);
        if (fetched.length === 0) break;
        waiting.push(...fetched);
        bytes = fetched.reduce((sum, event) => sum + event.bytes, bytes);
      }
      if (waiting.length === 0) return { sealed: 0, mayGoOn: false };
      const after = seal(before, waiting.map(toRecordedEvent), lock.now.getTime());
      const sealed = waiting.slice(0, after.size - size).map(({ id }) => id);
      const columns = [after.roots.map(toBytes), after.recordedAt, toBytes(after.mac)];
      await manager.query(SEAL, [sealed, size, ...columns]);
      const isFull = bytes >= MOST_BYTES || waiting.length === limit;
      return { sealed: sealed.length, mayGoOn: isFull && sealed.length === waiting.length };
    });
  }
}

const toBytes = (hexadecimal: string): Buffer => Buffer.from(hexadecimal, 'hex');
