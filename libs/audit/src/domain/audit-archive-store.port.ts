import type { WorkspaceId } from '#libs/kernel';
import type { AuditFloor, AuditTree } from './audit-tree';
import type { EventOfTree } from './tree-growth';

/** The part of a workspace's audit that can be archived. */
export interface ArchivePlan {
  /** Null before the first archive. */
  readonly floor: AuditFloor | null;
  /** The last event to archive. It ends a seal. */
  readonly last: number;
  readonly tree: AuditTree;
}

/** The stored events that an archive takes. For operators only. */
export abstract class AuditArchiveStore {
  /**
   * Finds the last event that was recorded before this time and can go. The newest published seal stays, and so does
   * everything behind the anchor of an unsealed event. Returns null when nothing can be archived.
   */
  abstract plan(workspaceId: WorkspaceId, before: Date): Promise<ArchivePlan | null>;

  /** Returns published events after this sequence, in its order. */
  abstract events(workspaceId: WorkspaceId, after: number, limit: number): Promise<EventOfTree[]>;

  /**
   * Removes the events from `first` up to the new floor, and raises the floor, in one transaction.
   * @throws {@link EventsGone} unless all of them are there
   */
  abstract remove(first: number, floor: AuditFloor): Promise<void>;
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
