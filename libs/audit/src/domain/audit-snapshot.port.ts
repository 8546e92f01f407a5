import type { AuditCheckpoint } from './audit-checkpoint';
import type { RecordedEvent } from './audit-event';

export interface NumberedEvent extends RecordedEvent {
  readonly sequence: number;
}

/** A snapshot of one workspace's audit, read in bounded memory. Must be closed. */
export abstract class AuditSnapshot {
  /** Number of events with a sequence. */
  abstract readonly sealedCount: number;
  /** Number of events without one. */
  abstract readonly unsealedCount: number;

  /** Ordered by size. */
  abstract checkpoints(): AsyncGenerator<AuditCheckpoint, void>;

  /** Events with a sequence, ordered by it. */
  abstract sealedEvents(): AsyncGenerator<NumberedEvent, void>;

  /** Ordered by id. */
  abstract unsealedEvents(): AsyncGenerator<RecordedEvent, void>;

  abstract close(): Promise<void>;
}
