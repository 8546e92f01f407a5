import type { AuditFloor, AuditTree } from './audit-tree';
import type { AnchoredEvent, AuditHead, StoredSeal } from './audit-event';

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
