import type { WorkspaceId } from '#libs/kernel';
import type { SealedBatch } from './audit-chain';
import type { AnchoredEvent, AuditHead } from './audit-event';

export interface AuditBacklog {
  /** Number of events that are not sealed; 10,000 stands for that many or more. */
  readonly unsealed: number;
  /** When the oldest of them was recorded; null when there is none. */
  readonly oldestAt: Date | null;
  /** Disk space that all events take, with their indexes. */
  readonly bytes: number;
}

/** The events that wait for their seal. */
export abstract class AuditSealStore {
  /** Workspaces with events that are not sealed. */
  abstract workspacesToSeal(): Promise<WorkspaceId[]>;

  /** Of all workspaces, at a cost that is bounded however much waits or was recorded. */
  abstract backlog(): Promise<AuditBacklog>;

  /**
   * Seals the oldest events of a workspace, `limit` at most, in one transaction: all that `seal` makes of them or nothing.
   * Gives how many it sealed, which is 0 when none waits; null, at once, while another process seals this workspace.
   */
  abstract sealNext(
    workspaceId: WorkspaceId,
    limit: number,
    seal: (before: AuditHead | null, events: readonly AnchoredEvent[]) => SealedBatch,
  ): Promise<number | null>;
}
