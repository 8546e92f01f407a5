import type { AssetId, WorkspaceId } from '#libs/kernel';
import type { AuditFloor, AuditTree } from './audit-tree';
import type { AnchoredEvent, AuditHead, RecordedEvent, StoredSeal } from './audit-event';

/** Restricts a list of events. An absent member restricts nothing. */
export interface AuditFilter {
  readonly workspaceIds: readonly WorkspaceId[];
  readonly assetId?: AssetId;
  readonly clientId?: string;
  /** Earliest time, in milliseconds since 1970. */
  readonly since?: number;
}

/** A snapshot of one workspace's audit, read in bounded memory. Must be closed. */
export abstract class AuditSnapshot {
  abstract readonly sealedCount: number;
  abstract readonly unsealedCount: number;
  /** Null when there is none. */
  abstract readonly head: AuditHead | null;

  /** Null when there is none. */
  abstract readonly tree: AuditTree | null;

  /** Null while nothing was archived. */
  abstract readonly floor: AuditFloor | null;

  /** Ordered by last sequence. */
  abstract seals(): AsyncGenerator<StoredSeal, void>;

  /** Ordered by sequence. */
  abstract sealedEvents(): AsyncGenerator<AnchoredEvent, void>;

  /** Ordered by id. */
  abstract unsealedEvents(): AsyncGenerator<AnchoredEvent, void>;

  abstract close(): Promise<void>;
}

/** The audit of all workspaces. For operators only, never on behalf of a request. */
export abstract class RecordedEvents {
  /** Returns every workspace with audit data, even when the workspace itself is gone. */
  abstract workspaces(): Promise<WorkspaceId[]>;

  /** Returns up to `size` events that are older than the event `after`, newest first. Null starts at the newest. */
  abstract list(
    filter: AuditFilter,
    page: { readonly size: number; readonly after: RecordedEvent | null },
  ): Promise<RecordedEvent[]>;

  /** Opens a snapshot. Later changes and seals do not appear in it. */
  abstract open(workspaceId: WorkspaceId): Promise<AuditSnapshot>;
}
