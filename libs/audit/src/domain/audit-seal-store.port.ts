import type { WorkspaceId } from '#libs/kernel';
import type { ChainEnds, SealedBatch } from './audit-chain';
import type { AnchoredEvent } from './audit-event';

export interface AuditBacklog {
  /** Number of unsealed events. 10,000 means that many or more. */
  readonly unsealed: number;
  /** Time of the oldest unsealed event, or null. */
  readonly oldestAt: Date | null;
  /** Number of sealed events that are in no tree yet, and so below no checkpoint. */
  readonly outsideTree: number;
  /** Disk space of all events and their indexes. */
  readonly bytes: number;
}

/** Stores the seals of recorded events. */
export abstract class AuditSealStore {
  /** Returns workspaces with unsealed events or unpublished seals. */
  abstract workspacesToSeal(): Promise<WorkspaceId[]>;

  /**
   * Publishes the oldest unpublished seals of a workspace, at most `limit`, in one transaction: their events get a time of
   * recording, which never falls. Returns the number of seals. Returns null at once while another instance works on this
   * workspace.
   */
  abstract publishNext(workspaceId: WorkspaceId, limit: number): Promise<number | null>;

  /** Measures the backlog of all workspaces. The cost is bounded, whatever the backlog or the number of events. */
  abstract backlog(): Promise<AuditBacklog>;

  /**
   * Seals the oldest events of a workspace, at most `limit`, in one transaction. Returns the number of sealed events, 0
   * when none waits. Returns null at once while another instance seals this workspace.
   */
  abstract sealNext(
    workspaceId: WorkspaceId,
    limit: number,
    seal: (before: ChainEnds, events: readonly AnchoredEvent[]) => SealedBatch,
  ): Promise<number | null>;
}
