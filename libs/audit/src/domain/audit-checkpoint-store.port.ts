import type { WorkspaceId } from '#libs/kernel';
import type { AuditCheckpoint } from './audit-checkpoint';
import type { RecordedEvent } from './audit-event';

export interface AuditBacklog {
  /** Number of unsealed events. 10,000 means that many or more. */
  readonly unsealed: number;
  /** Time of the oldest unsealed event, or null. */
  readonly oldestAt: Date | null;
  /** Disk space of all events and their indexes. */
  readonly bytes: number;
}

export interface SealedBatch {
  readonly sealed: number;
  /** Whether more events may wait, because the batch is full by their number or their bytes. */
  readonly mayGoOn: boolean;
}

/** Stores the checkpoints of recorded events, and with them the places of the events. */
export abstract class AuditCheckpointStore {
  /** Returns the newest checkpoint of a workspace, or null before its first event is sealed. */
  abstract newest(workspaceId: WorkspaceId): Promise<AuditCheckpoint | null>;

  /** Returns workspaces with unsealed events. */
  abstract workspacesToSeal(): Promise<WorkspaceId[]>;

  /** Measures the backlog of all workspaces. The cost is bounded, whatever the backlog or the number of events. */
  abstract backlog(): Promise<AuditBacklog>;

  /**
   * Seals the oldest unsealed events of a workspace, at most `limit`, in one transaction: they get their places, and become
   * visible in that order. Large events make a smaller batch. `now` is the time of the database, in milliseconds since 1970: one
   * wrong clock of an instance would date all later events. Returns null at once while another instance seals this workspace.
   */
  abstract sealNext(
    workspaceId: WorkspaceId,
    limit: number,
    seal: (before: AuditCheckpoint | null, events: readonly RecordedEvent[], now: number) => AuditCheckpoint,
  ): Promise<SealedBatch | null>;
}
