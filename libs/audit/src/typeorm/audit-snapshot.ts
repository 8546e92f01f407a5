import type { WorkspaceId } from '#libs/kernel';
import type { QueryRunner } from 'typeorm';
import type { AuditCheckpoint } from '../domain/audit-checkpoint';
import type { RecordedEvent } from '../domain/audit-event';
import type { NumberedEvent, StoredAudit } from '../domain/audit-check';
import {
  type AuditEventColumns,
  CHECKPOINT_COLUMNS,
  type CheckpointColumns,
  EVENT_COLUMNS,
  toCheckpoint,
  toRecordedEvent,
} from './audit-columns';

const PAGE = 1_000;

const COUNT = `
  SELECT (SELECT count(*) FROM audit_event WHERE workspace_id = $1 AND sequence IS NOT NULL) AS sealed,
         (SELECT count(*) FROM audit_event WHERE workspace_id = $1 AND sequence IS NULL) AS unsealed`;
const CHECKPOINTS = `
  SELECT ${CHECKPOINT_COLUMNS} FROM audit_checkpoint
   WHERE workspace_id = $1 AND ($2::bigint IS NULL OR size > $2) ORDER BY size LIMIT ${PAGE}`;
/** From the lowest number on, also one that no event can have. */
const SEALED_EVENTS = `
  SELECT ${EVENT_COLUMNS} FROM audit_event
   WHERE workspace_id = $1 AND sequence > coalesce($2, -9223372036854775808) ORDER BY sequence LIMIT ${PAGE}`;
const UNSEALED_EVENTS = `
  SELECT ${EVENT_COLUMNS} FROM audit_event
   WHERE workspace_id = $1 AND sequence IS NULL AND ($2::uuid IS NULL OR id > $2) ORDER BY id LIMIT ${PAGE}`;

/**
 * One workspace's audit, read in bounded memory. A REPEATABLE READ transaction: every statement sees the snapshot of the
 * first. Must be closed.
 */
export class AuditSnapshot implements StoredAudit {
  private constructor(
    private readonly runner: QueryRunner,
    private readonly workspaceId: WorkspaceId,
    readonly sealedCount: number,
    readonly unsealedCount: number,
  ) {}

  static async open(runner: QueryRunner, workspaceId: WorkspaceId): Promise<AuditSnapshot> {
    try {
      await runner.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const [counts] = (await runner.query(COUNT, [workspaceId])) as [{ sealed: string; unsealed: string }];
      return new AuditSnapshot(runner, workspaceId, Number(counts.sealed), Number(counts.unsealed));
    } catch (error) {
      await end(runner);
      throw error;
    }
  }

  async *checkpoints(): AsyncGenerator<AuditCheckpoint, void> {
    for await (const row of this.rows<CheckpointColumns>(CHECKPOINTS, (last) => last.size)) yield toCheckpoint(row);
  }

  async *sealedEvents(): AsyncGenerator<NumberedEvent, void> {
    for await (const row of this.rows<AuditEventColumns>(SEALED_EVENTS, (last) => last.sequence)) {
      yield { ...toRecordedEvent(row), sequence: Number(row.sequence) };
    }
  }

  async *unsealedEvents(): AsyncGenerator<RecordedEvent, void> {
    for await (const row of this.rows<AuditEventColumns>(UNSEALED_EVENTS, (last) => last.id)) {
      yield toRecordedEvent(row);
    }
  }

  async close(): Promise<void> {
    await end(this.runner);
  }

  private async *rows<Row>(statement: string, positionOf: (last: Row) => string | null): AsyncGenerator<Row> {
    for (let after: string | null = null; ;) {
      const page = (await this.runner.query(statement, [this.workspaceId, after])) as Row[];
      yield* page;
      const last = page[PAGE - 1];
      if (last === undefined) return;
      after = positionOf(last);
    }
  }
}

/** The transaction only read, so a failed ROLLBACK does no harm. */
async function end(runner: QueryRunner): Promise<void> {
  await runner.query('ROLLBACK').catch(() => undefined);
  await runner.release();
}
