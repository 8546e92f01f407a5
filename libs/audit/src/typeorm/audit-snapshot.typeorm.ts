import type { WorkspaceId } from '#libs/kernel';
import type { QueryRunner } from 'typeorm';
import type { AuditHead, AnchoredEvent, StoredSeal } from '../domain/audit-event';
import type { AuditFloor, AuditTree } from '../domain/audit-tree';
import { AuditSnapshot } from '../domain/audit-snapshot.port';
import {
  AUDIT_FLOOR,
  AUDIT_HEAD,
  AUDIT_TREE,
  ANCHORED_EVENT_COLUMNS,
  type AnchoredEventColumns,
  type AuditFloorColumns,
  type AuditHeadColumns,
  type AuditSealColumns,
  type AuditTreeColumns,
  SEAL_COLUMNS,
  toAuditFloor,
  toAuditHead,
  toAuditTree,
  toAnchoredEvent,
  toStoredSeal,
} from './audit-columns';

const PAGE = 1_000;
const BEFORE_ALL = '-1';

const COUNT = `
  SELECT (SELECT count(*) FROM audit_event WHERE workspace_id = $1 AND sequence IS NOT NULL) AS sealed,
         (SELECT count(*) FROM audit_event WHERE workspace_id = $1 AND sequence IS NULL) AS unsealed`;
const SEALS = `
  SELECT ${SEAL_COLUMNS} FROM audit_seal
   WHERE workspace_id = $1 AND last_sequence > $2 ORDER BY last_sequence LIMIT ${PAGE}`;
const SEALED_EVENTS = `
  SELECT ${ANCHORED_EVENT_COLUMNS} FROM audit_event AS event
   WHERE workspace_id = $1 AND sequence > $2 ORDER BY sequence LIMIT ${PAGE}`;
const UNSEALED_EVENTS = `
  SELECT ${ANCHORED_EVENT_COLUMNS} FROM audit_event AS event
   WHERE workspace_id = $1 AND sequence IS NULL AND ($2::uuid IS NULL OR id > $2) ORDER BY id LIMIT ${PAGE}`;

/** A REPEATABLE READ transaction: every statement sees the snapshot of the first. */
export class AuditSnapshotTypeorm extends AuditSnapshot {
  private constructor(
    private readonly runner: QueryRunner,
    private readonly workspaceId: WorkspaceId,
    readonly sealedCount: number,
    readonly unsealedCount: number,
    readonly head: AuditHead | null,
    readonly tree: AuditTree | null,
    readonly floor: AuditFloor | null,
  ) {
    super();
  }

  static async open(runner: QueryRunner, workspaceId: WorkspaceId): Promise<AuditSnapshotTypeorm> {
    try {
      await runner.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const [counts] = (await runner.query(COUNT, [workspaceId])) as [{ sealed: string; unsealed: string }];
      const [head] = (await runner.query(AUDIT_HEAD, [workspaceId])) as AuditHeadColumns[];
      const { sealed, unsealed } = counts;
      const [row] = (await runner.query(AUDIT_TREE, [workspaceId])) as AuditTreeColumns[];
      const [floor] = (await runner.query(AUDIT_FLOOR, [workspaceId])) as AuditFloorColumns[];
      const ends = [
        head ? toAuditHead(head) : null,
        row ? toAuditTree(workspaceId, row) : null,
        floor ? toAuditFloor(workspaceId, floor) : null,
      ] as const;
      return new AuditSnapshotTypeorm(runner, workspaceId, Number(sealed), Number(unsealed), ...ends);
    } catch (error) {
      await end(runner);
      throw error;
    }
  }

  async *seals(): AsyncGenerator<StoredSeal, void> {
    for await (const row of this.rows<AuditSealColumns>(SEALS, BEFORE_ALL, (last) => last.last_sequence)) {
      yield toStoredSeal(row);
    }
  }

  async *sealedEvents(): AsyncGenerator<AnchoredEvent, void> {
    for await (const row of this.rows<AnchoredEventColumns>(SEALED_EVENTS, BEFORE_ALL, (last) => last.sequence ?? '')) {
      yield toAnchoredEvent(row);
    }
  }

  async *unsealedEvents(): AsyncGenerator<AnchoredEvent, void> {
    for await (const row of this.rows<AnchoredEventColumns>(UNSEALED_EVENTS, null, (last) => last.id)) {
      yield toAnchoredEvent(row);
    }
  }

  async close(): Promise<void> {
    await end(this.runner);
  }

  private async *rows<Row>(
    statement: string,
    start: string | null,
    positionOf: (last: Row) => string,
  ): AsyncGenerator<Row> {
    for (let after = start; ;) {
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
