import type { ChangePage, FeedStart, WorkspaceId } from '#libs/kernel';
import type { EventFilter } from './event-filter';
import type { PublishedEvent } from './published-event';

export interface HashedEvent extends PublishedEvent {
  /** The event's leaf in the workspace's Merkle tree. */
  readonly leafHash: string;
}

export interface EventPage extends ChangePage<HashedEvent> {
  /** The time of the oldest event that is not published yet. */
  readonly oldestWaiting: Date | null;
}

/** The published events of a workspace. */
export abstract class PublishedEvents {
  /**
   * Returns events in ascending order of their sequence, from the start on. Every event has its turn once: events become
   * visible in that order. A page may be short or empty although more follows: it ends with the event that reaches
   * `mostBytes`, by default two megabytes.
   * @throws `cursor_expired` where the reader could miss an event
   */
  abstract read(
    workspaceId: WorkspaceId,
    filter: EventFilter,
    start: FeedStart,
    size: number,
    mostBytes?: number,
  ): Promise<EventPage>;
}
