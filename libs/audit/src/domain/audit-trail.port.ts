import type { AssetId, WorkspaceId } from '#libs/kernel';
import type { AnchoredEvent, AuditHead, AuditSeal, RecordedEvent } from './audit-event';

/** Which events; a member left out restricts nothing. */
export interface AuditFilter {
  readonly workspaceIds: readonly WorkspaceId[];
  readonly assetId?: AssetId;
  readonly clientId?: string;
  /** Not before this time, in milliseconds since 1970. */
  readonly since?: number;
}

/** Everything kept of one workspace as it was at one moment, read in bounded memory. Must be closed. */
export abstract class AuditSnapshot {
  abstract readonly sealedCount: number;
  abstract readonly unsealedCount: number;
  /** Null when there is none. */
  abstract readonly head: AuditHead | null;

  /** By last sequence. */
  abstract seals(): AsyncGenerator<AuditSeal, void>;

  /** By sequence. */
  abstract sealedEvents(): AsyncGenerator<AnchoredEvent, void>;

  /** By id. */
  abstract unsealedEvents(): AsyncGenerator<AnchoredEvent, void>;

  abstract close(): Promise<void>;
}

/** The audit of all workspaces; for operators only, never on behalf of a request. */
export abstract class AuditTrail {
  /** Every workspace of which anything is kept, known to us or not. */
  abstract workspaces(): Promise<WorkspaceId[]>;

  /** Up to `size` events, newest first, that are older than the event `after`; the newest of all when it is null. */
  abstract list(
    filter: AuditFilter,
    page: { readonly size: number; readonly after: RecordedEvent | null },
  ): Promise<RecordedEvent[]>;

  /** Changes made meanwhile, and the sealer's work, do not show in it. */
  abstract open(workspaceId: WorkspaceId): Promise<AuditSnapshot>;
}
