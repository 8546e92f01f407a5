import type { WorkspaceId } from '#libs/kernel';
import type { DataSource } from 'typeorm';
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

/** Where an audit ends, and how many events it has. Null where there is nothing. */
interface Extent {
  readonly sealed: string;
  readonly unsealed: string;
  readonly size: string | null;
  readonly sequence: string | null;
  /** The newest event that waits for its seal. */
  readonly waiting: string | null;
  /** The MAC of the first checkpoint. */
  readonly first: string | null;
}

const FIRST = `(SELECT encode(mac, 'hex') FROM audit_checkpoint WHERE workspace_id = $1 ORDER BY size LIMIT 1) AS first`;
const EXTENT = `
  SELECT (SELECT count(*) FROM audit_event WHERE workspace_id = $1 AND sequence IS NOT NULL) AS sealed,
         (SELECT count(*) FROM audit_event WHERE workspace_id = $1 AND sequence IS NULL) AS unsealed,
         (SELECT max(size) FROM audit_checkpoint WHERE workspace_id = $1) AS size,
         (SELECT max(sequence) FROM audit_event WHERE workspace_id = $1) AS sequence,
         (SELECT id FROM audit_event WHERE workspace_id = $1 AND sequence IS NULL ORDER BY id DESC LIMIT 1) AS waiting,
         ${FIRST}`;
/** $2 is where the page before ended, and $3 where the extent ends. */
const CHECKPOINTS = `
  SELECT ${CHECKPOINT_COLUMNS} FROM audit_checkpoint
   WHERE workspace_id = $1 AND ($2::bigint IS NULL OR size > $2) AND size <= $3 ORDER BY size LIMIT ${PAGE}`;
/** From the lowest number on, also one that no event can have. */
const SEALED_EVENTS = `
  SELECT ${EVENT_COLUMNS} FROM audit_event
   WHERE workspace_id = $1 AND sequence > coalesce($2, -9223372036854775808) AND sequence <= $3
   ORDER BY sequence LIMIT ${PAGE}`;
const UNSEALED_EVENTS = `
  SELECT ${EVENT_COLUMNS} FROM audit_event
   WHERE workspace_id = $1 AND sequence IS NULL AND ($2::uuid IS NULL OR id > $2) AND id <= $3 ORDER BY id LIMIT ${PAGE}`;
/** Events that waited and were sealed since. They are behind the extent, which ends at $4. */
const SEALED_SINCE = `
  SELECT ${EVENT_COLUMNS} FROM audit_event
   WHERE workspace_id = $1 AND sequence > coalesce($2, $4::bigint, 0) AND id <= $3 ORDER BY sequence LIMIT ${PAGE}`;

/**
 * One workspace's audit as it was when it was opened, read in bounded memory. What is sealed never changes, so each page is
 * a statement of its own: a snapshot of an hour would keep vacuum from every table. Only an archive takes events away.
 */
export class StoredAuditTypeorm implements StoredAudit {
  private constructor(
    private readonly dataSource: DataSource,
    private readonly workspaceId: WorkspaceId,
    private readonly extent: Extent,
  ) {}

  static async open(dataSource: DataSource, workspaceId: WorkspaceId): Promise<StoredAuditTypeorm> {
    const [extent] = await dataSource.query<[Extent]>(EXTENT, [workspaceId]);
    return new StoredAuditTypeorm(dataSource, workspaceId, extent);
  }

  get sealedCount(): number {
    return Number(this.extent.sealed);
  }

  get unsealedCount(): number {
    return Number(this.extent.unsealed);
  }

  async *checkpoints(): AsyncGenerator<AuditCheckpoint, void> {
    const { size } = this.extent;
    for await (const row of this.rows<CheckpointColumns>(CHECKPOINTS, (last) => last.size, size))
      yield toCheckpoint(row);
  }

  async *sealedEvents(): AsyncGenerator<NumberedEvent, void> {
    const { sequence } = this.extent;
    for await (const row of this.rows<AuditEventColumns>(SEALED_EVENTS, (last) => last.sequence, sequence)) {
      yield { ...toRecordedEvent(row), sequence: Number(row.sequence) };
    }
  }

  async *unsealedEvents(): AsyncGenerator<RecordedEvent, void> {
    const { waiting, sequence } = this.extent;
    for await (const row of this.rows<AuditEventColumns>(UNSEALED_EVENTS, (last) => last.id, waiting)) {
      yield toRecordedEvent(row);
    }
    for await (const row of this.rows<AuditEventColumns>(SEALED_SINCE, (last) => last.sequence, waiting, sequence)) {
      yield toRecordedEvent(row);
    }
  }

  /** Tells whether an archive took events away since. It makes another checkpoint the first one, or leaves none. */
  async wasArchived(): Promise<boolean> {
    const [now] = await this.dataSource.query<[Pick<Extent, 'first'>]>(`SELECT ${FIRST}`, [this.workspaceId]);
    return now.first !== this.extent.first;
  }

  private async *rows<Row>(
    statement: string,
    positionOf: (last: Row) => string | null,
    ...extent: (string | null)[]
  ): AsyncGenerator<Row> {
    for (let after: string | null = null; ;) {
      const page: Row[] = await this.dataSource.query<Row[]>(statement, [this.workspaceId, after, ...extent]);
      yield* page;
      const last = page[PAGE - 1];
      if (last === undefined) return;
      after = positionOf(last);
    }
  }
}
