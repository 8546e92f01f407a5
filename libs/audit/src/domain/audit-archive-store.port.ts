import type { WorkspaceId } from '#libs/kernel';
import type { AuditCheckpoint } from './audit-checkpoint';
import type { RecordedEvent } from './audit-event';

/** The part of a workspace's audit that can be archived. */
export interface ArchivePlan {
  /** Null before the first archive. */
  readonly floor: AuditCheckpoint | null;
  /** The checkpoint that ends with the last event to archive. */
  readonly end: AuditCheckpoint;
}

/** A sealed event. */
export interface SealedEvent extends RecordedEvent {
  readonly sequence: number;
  /** The time of its checkpoint, ISO 8601. */
  readonly recordedAt: string;
}

/** The stored events that an archive takes. For operators only. */
export abstract class AuditArchiveStore {
  /**
   * Finds the last checkpoint that was recorded before this time, apart from the newest one. Without a time it finds the
   * newest one. Returns null when nothing can be archived.
   */
  abstract plan(workspaceId: WorkspaceId, before: Date | null): Promise<ArchivePlan | null>;

  /** Returns sealed events after this sequence, in its order. */
  abstract events(workspaceId: WorkspaceId, after: number, limit: number): Promise<SealedEvent[]>;

  /**
   * Removes the events from `first` up to this floor, and makes its checkpoint the first one, in one transaction.
   * @throws {@link EventsGone} unless all of them are there
   */
  abstract remove(first: number, floor: AuditCheckpoint): Promise<void>;
}

/** The events cannot be archived. None was removed. */
export class ArchiveRefused extends Error {
  constructor(reason: string) {
    super(`${reason} Nothing was removed.`);
    this.name = 'ArchiveRefused';
  }
}

export class EventsGone extends ArchiveRefused {
  constructor() {
    super('Events are missing: another run archived them, or audit verify tells more.');
  }
}

/** New events were recorded after the last archive. */
export class EventsLeft extends Error {
  constructor() {
    super('Somebody still writes to this workspace: there are new audit events. Run the command again.');
    this.name = 'EventsLeft';
  }
}
