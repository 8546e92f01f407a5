import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';
import type { FeedStart, WorkspaceId } from '#libs/kernel';
import { MAX_FEED_PAGE_BYTES } from '#libs/platform/changes';
import { type Database, RowBudget, bind } from '#libs/platform/database';
import { ASSET_UPDATED } from '../domain/audit-event';
import type { TreeHashes } from '../domain/audit-tree';
import { type EventPage, PublishedEvents, type HashedEvent } from '../domain/published-events.port';
import { type EventFilter, FILTERS_BY_WIDTH, matches } from '../domain/event-filter';
import {
  AuditCursorExpired,
  BEFORE_ALL_EVENTS,
  type EventPosition,
  readPosition,
  writePosition,
} from '../domain/event-position';
import { type PublishedEvent, publish } from '../domain/published-event';
import { type SealedEventColumns, toSealedEvent } from './audit-columns';
import { type CheckpointOfPage, EVENT_PAGES, type EventPageHead } from './event-page-statements';

/** Events that a page with several filters looks at, at most: one index finds them, and few may pass the others. */
const MOST_EXAMINED = 1_000;

/** An event may be 400 kB, and then few make a page. */
const FIRST_PORTION = 16;
/** They take few milliseconds, and then other requests have their turn. */
const HASHED_AT_ONCE = 50;
/** Behind every event. */
const LARGEST = '9223372036854775807';

/** Reads the list. The statement names the workspace, and row-level security shows no other one. */
export class PublishedEventsTypeorm extends PublishedEvents {
  constructor(
    private readonly database: Database,
    private readonly hashes: TreeHashes,
  ) {
    super();
  }

  async read(
    workspaceId: WorkspaceId,
    filter: EventFilter,
    start: FeedStart,
    size: number,
    mostBytes = MAX_FEED_PAGE_BYTES,
  ): Promise<EventPage> {
    const [first, ...others] = FILTERS_BY_WIDTH.filter((name) => filter[name] !== undefined);
    const limit = others.length === 0 ? size : Math.max(size, MOST_EXAMINED);
    const seen = start.kind === 'position' ? readPosition(start.position) : null;
    const since = start.kind === 'since' ? start.since : seen?.since;
    const times = [filter.until?.toISOString() ?? 'infinity', since?.toISOString() ?? null];
    const after = start.kind === 'now' ? LARGEST : (seen?.sequence.toString() ?? null);
    const values = [workspaceId, ...times, after, String(limit + 1)];
    const by = first === 'action' && filter.action === ASSET_UPDATED ? 'updates' : (first ?? 'all');
    if (by === first) values.push(filter[by] as string);
    // The head, the page, and one row more. The head and one event come, whatever their size.
    const budget = new RowBudget(limit + 2, mostBytes, 2, FIRST_PORTION);
    const bound = bind(EVENT_PAGES[by], values, budget);
    const [[headRow, ...rows] = []] = await this.database.read({ workspaceId }, [bound]);
    const head = JSON.parse(headRow?.[1] as string) as EventPageHead;

    if (start.kind === 'since') assertKept(start.since, head);
    if (seen) assertKnown(seen, head);
    const read = rows.slice(0, limit).map((row) => toEvent(row[1] as string));
    const found = read.filter((event) => matches(event, filter));
    const shown = found.slice(0, size);
    const last = budget.isCut || rows.length > limit ? read.at(-1) : undefined;
    const more = found.length > size ? shown.at(-1) : last;
    return {
      changes: await this.hashed(shown),
      position: writePosition(more ? { sequence: more.sequence, eventId: more.id } : endOf(head, seen, since)),
      hasMore: more !== undefined,
      oldestWaiting: head.waiting === null ? null : new Date(head.waiting),
    };
  }

  private async hashed(events: readonly PublishedEvent[]): Promise<HashedEvent[]> {
    const hashed: HashedEvent[] = [];
    for (const event of events) {
      if (hashed.length > 0 && hashed.length % HASHED_AT_ONCE === 0) await nextTurnOfLoop();
      hashed.push({ ...event, leafHash: this.hashes.leaf(event) });
    }
    return hashed;
  }
}

/** The position behind a page that has all. As long as no event follows the time, the reader keeps waiting for it. */
function endOf({ floor, last, before }: EventPageHead, seen: EventPosition | null, since?: Date): EventPosition {
  const end = positionOf(last ?? floor);
  if (since) return positionOf(before ?? floor).sequence < end.sequence ? end : { ...end, since };
  return seen && seen.sequence > end.sequence ? seen : end;
}

/** @throws {@link AuditCursorExpired} unless the event in this place is the one that the reader saw */
function assertKnown(position: EventPosition, { floor, seen }: EventPageHead): void {
  const lowest = positionOf(floor);
  if (position.sequence < lowest.sequence) {
    // A reader that waits for a later time has missed none of them.
    if (position.since && floor && new Date(floor.recorded_at) < position.since) return;
    throw new AuditCursorExpired('purged');
  }
  if (position.sequence === 0) return;
  const eventId = position.sequence === lowest.sequence ? lowest.eventId : seen;
  if (eventId !== position.eventId) throw new AuditCursorExpired('diverged');
}

/** @throws {@link AuditCursorExpired} when an event that was recorded at this time or later is archived */
function assertKept(since: Date, { floor }: EventPageHead): void {
  if (floor && since <= new Date(floor.recorded_at)) throw new AuditCursorExpired('archived');
}

const positionOf = (checkpoint: CheckpointOfPage | null): EventPosition =>
  checkpoint ? { sequence: checkpoint.size, eventId: checkpoint.last_event } : BEFORE_ALL_EVENTS;

function toEvent(text: string): PublishedEvent {
  const event = toSealedEvent(JSON.parse(text) as SealedEventColumns);
  return publish(event, event.sequence, event.recordedAt);
}
