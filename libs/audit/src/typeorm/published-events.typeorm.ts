import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';
import type { ChangePage, FeedStart, WorkspaceId } from '#libs/kernel';
import { MAX_FEED_PAGE_BYTES } from '#libs/platform/changes';
import type { Database } from '#libs/platform/database';
import { type EntityManager, IsNull, LessThan, MoreThan } from 'typeorm';
import { ASSET_UPDATED } from '../domain/audit-event';
import type { TreeHashes } from '../domain/audit-tree';
import { PublishedEvents, type HashedEvent } from '../domain/published-events.port';
import { type EventFilter, FILTERS_BY_WIDTH, type FilterName, matches } from '../domain/event-filter';
import {
  AuditCursorExpired,
  BEFORE_ALL_EVENTS,
  type EventPosition,
  readPosition,
  writePosition,
} from '../domain/event-position';
import { type PublishedEvent, publish } from '../domain/published-event';
import { actorNameOf, kindOfRow } from './audit-columns';
import { AuditCheckpointRow } from './audit-checkpoint.row';
import { AuditEventRow } from './audit-event.row';

/** Each has an index that begins with the workspace and ends in the sequence. */
const CONDITIONS: Readonly<Record<FilterName, string>> = {
  requestId: 'event.request_id = :requestId',
  assetId: 'event.asset_id = :assetId',
  clientId: 'event.client_id = :clientId',
  action: 'event.action = :action',
};
const IS_UPDATE = 'event.action IS NULL';

/** Events that a page with several filters looks at, at most: one index finds them, and few may pass the others. */
const MOST_EXAMINED = 1_000;

/**
 * Events of the first statement, and the most of one. Each reads twice as many as the one before. The page ends with the
 * event that reaches its bytes, and drops the others of its statement.
 */
const FIRST_PORTION = 8;
const LARGEST_PORTION = 128;
/** They take few milliseconds, and then other requests have their turn. */
const HASHED_AT_ONCE = 50;

interface Read {
  readonly event: PublishedEvent;
  readonly position: EventPosition;
  /** Length of the changes as text, which may be nearly all of an event. */
  readonly bytes: number;
}

interface Wanted {
  readonly filter: EventFilter;
  readonly first: FilterName | undefined;
  readonly after: number;
  readonly end: number;
}

/**
 * Reads the list by the entity manager and its query builder. Every query names the workspace first, and row-level
 * security shows no other one.
 */
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
  ): Promise<ChangePage<HashedEvent>> {
    const { events, position, hasMore } = await this.database.inTenant({ workspaceId }, async (manager) => {
      // First: events that are published meanwhile are behind it.
      const end = await this.end(manager, workspaceId, filter.until);
      const bounds = { size, mostBytes };
      const pageAfter = (after: EventPosition) => this.page(manager, workspaceId, filter, after, end, bounds);
      let after = await this.startOf(manager, workspaceId, start, end);
      let page = await pageAfter(after);
      // Where events were archived meanwhile, the page may have a gap. The list then begins behind them.
      while (start.kind === 'beginning' && after.sequence < (await this.floor(manager, workspaceId)).sequence) {
        after = await this.floor(manager, workspaceId);
        page = await pageAfter(after);
      }
      // Last: the floor tells of events that were archived meanwhile.
      if (start.kind === 'since') await this.assertKept(manager, workspaceId, start.since);
      if (start.kind === 'position') await this.assertKnown(manager, workspaceId, readPosition(start.position));
      return page;
    });
    const changes: HashedEvent[] = [];
    for (const event of events) {
      if (changes.length > 0 && changes.length % HASHED_AT_ONCE === 0) await nextTurnOfLoop();
      changes.push({ ...event, leafHash: this.hashes.leaf(event) });
    }
    return { changes, position: writePosition(position), hasMore };
  }

  async oldestWaiting(workspaceId: WorkspaceId): Promise<Date | null> {
    return this.database.inTenant({ workspaceId }, async (manager) => {
      const { sequence } = await this.end(manager, workspaceId);
      const events = manager.getRepository(AuditEventRow);
      const waiting = [
        await events.findOne({
          where: { workspace_id: workspaceId, sequence: MoreThan(String(sequence)) },
          order: { sequence: 'ASC' },
        }),
        await events.findOne({ where: { workspace_id: workspaceId, sequence: IsNull() }, order: { id: 'ASC' } }),
      ];
      const times = waiting.flatMap((event) => event?.occurred_at.getTime() ?? []);
      return times.length === 0 ? null : new Date(Math.min(...times));
    });
  }

  /** The last sealed event, or the last one that was recorded before `until`; never below the floor. */
  private async end(manager: EntityManager, workspaceId: WorkspaceId, until?: Date): Promise<EventPosition> {
    const checkpoint = await manager.findOne(AuditCheckpointRow, {
      where: { workspace_id: workspaceId, ...(until ? { recorded_at: LessThan(until) } : {}) },
      order: { recorded_at: 'DESC', size: 'DESC' },
    });
    return checkpoint ? positionOf(checkpoint) : this.floor(manager, workspaceId);
  }

  /** The event before the first one to read. */
  private async startOf(
    manager: EntityManager,
    workspaceId: WorkspaceId,
    start: FeedStart,
    end: EventPosition,
  ): Promise<EventPosition> {
    if (start.kind === 'beginning') return this.floor(manager, workspaceId);
    if (start.kind === 'now') return end;
    if (start.kind === 'since') return this.before(manager, workspaceId, start.since, end);
    const seen = readPosition(start.position);
    return seen.since ? this.before(manager, workspaceId, seen.since, end) : seen;
  }

  /** The last event before this time. As long as no event follows it, the reader keeps waiting for the time. */
  private async before(
    manager: EntityManager,
    workspaceId: WorkspaceId,
    since: Date,
    end: EventPosition,
  ): Promise<EventPosition> {
    const before = await this.end(manager, workspaceId, since);
    return before.sequence < end.sequence ? before : { ...end, since };
  }

  /** @throws {@link AuditCursorExpired} unless the event in this place is the one that the reader saw */
  private async assertKnown(manager: EntityManager, workspaceId: WorkspaceId, position: EventPosition): Promise<void> {
    const event = await manager.findOneBy(AuditEventRow, {
      workspace_id: workspaceId,
      sequence: String(position.sequence),
    });
    // After the event: one that is archived in between is then below the floor.
    const archived = await findFloor(manager, workspaceId);
    const floor = archived ? positionOf(archived) : BEFORE_ALL_EVENTS;
    if (position.sequence < floor.sequence) {
      // A reader that waits for a later time has missed none of them.
      if (position.since && archived && archived.recorded_at < position.since) return;
      throw new AuditCursorExpired('purged');
    }
    if (position.sequence === 0) return;
    const { eventId } = position.sequence === floor.sequence ? floor : { eventId: event?.id };
    if (eventId !== position.eventId) throw new AuditCursorExpired('diverged');
  }

  /** @throws {@link AuditCursorExpired} when an event that was recorded at this time or later is archived */
  private async assertKept(manager: EntityManager, workspaceId: WorkspaceId, since: Date): Promise<void> {
    const floor = await findFloor(manager, workspaceId);
    if (floor && since <= floor.recorded_at) throw new AuditCursorExpired('archived');
  }

  /** The last archived event. The list begins after it. */
  private async floor(manager: EntityManager, workspaceId: WorkspaceId): Promise<EventPosition> {
    const floor = await findFloor(manager, workspaceId);
    return floor ? positionOf(floor) : BEFORE_ALL_EVENTS;
  }

  private async page(
    manager: EntityManager,
    workspaceId: WorkspaceId,
    filter: EventFilter,
    after: EventPosition,
    end: EventPosition,
    { size, mostBytes }: { readonly size: number; readonly mostBytes: number },
  ): Promise<{
    readonly events: readonly PublishedEvent[];
    readonly position: EventPosition;
    readonly hasMore: boolean;
  }> {
    const [first, ...others] = FILTERS_BY_WIDTH.filter((name) => filter[name] !== undefined);
    const limit = others.length === 0 ? size : Math.max(size, MOST_EXAMINED);
    const range = { after: after.sequence, end: end.sequence };
    const wanted = { filter, first, ...range };
    const { read, isCut } = await this.bounded(manager, workspaceId, wanted, limit + 1, mostBytes);
    const found = read.slice(0, limit).filter(({ event }) => matches(event, filter));
    const shown = found.slice(0, size);
    const last = isCut || read.length > limit ? read.slice(0, limit).at(-1) : undefined;
    const more = found.length > size ? shown[size - 1] : last;
    const events = shown.map(({ event }) => event);
    if (more) return { events, position: more.position, hasMore: true };
    return { events, position: after.sequence < end.sequence ? end : after, hasMore: false };
  }

  /** The next events up to the one that reaches the bytes. `isCut`: that one came before the limit. */
  private async bounded(
    manager: EntityManager,
    workspaceId: WorkspaceId,
    wanted: Wanted,
    limit: number,
    mostBytes: number,
  ): Promise<{ readonly read: readonly Read[]; readonly isCut: boolean }> {
    const read: Read[] = [];
    let [bytes, portionSize] = [0, FIRST_PORTION];
    for (let after = wanted.after; read.length < limit;) {
      const size = Math.min(portionSize, limit - read.length);
      const portion = await this.next(manager, workspaceId, { ...wanted, after }, size);
      for (const one of portion) {
        if (bytes >= mostBytes) return { read, isCut: true };
        read.push(one);
        bytes += one.bytes;
        after = one.position.sequence;
      }
      if (portion.length < size) break;
      portionSize = Math.min(2 * portionSize, LARGEST_PORTION);
    }
    return { read, isCut: false };
  }

  /** Published events in the order of their sequence, read by the index of one filter. */
  private async next(
    manager: EntityManager,
    workspaceId: WorkspaceId,
    { filter, first, after, end }: Wanted,
    limit: number,
  ): Promise<Read[]> {
    const query = manager
      .createQueryBuilder(AuditEventRow, 'event')
      .addSelect(
        (checkpoints) =>
          checkpoints
            .select('checkpoint.recorded_at')
            .from(AuditCheckpointRow, 'checkpoint')
            .where('checkpoint.workspace_id = event.workspace_id AND checkpoint.size >= event.sequence')
            .orderBy('checkpoint.size')
            .limit(1),
        'recorded_at',
      )
      .addSelect('octet_length(event.changes::text)', 'bytes')
      .where('event.workspace_id = :workspaceId', { workspaceId })
      .andWhere('event.sequence > :after AND event.sequence <= :end', { after, end });
    if (first === 'action' && filter.action === ASSET_UPDATED) query.andWhere(IS_UPDATE);
    else if (first) query.andWhere(CONDITIONS[first], { [first]: filter[first] });
    const { entities, raw } = await query.orderBy('event.sequence').limit(limit).getRawAndEntities();
    const others = raw as readonly { readonly recorded_at: Date; readonly bytes: number | null }[];
    return entities.map((row, place) => {
      const { recorded_at: recordedAt, bytes } = others[place] as (typeof others)[number];
      return toRead(row, recordedAt, bytes ?? 0);
    });
  }
}

const findFloor = (manager: EntityManager, workspaceId: WorkspaceId): Promise<AuditCheckpointRow | null> =>
  manager.findOneBy(AuditCheckpointRow, { workspace_id: workspaceId, is_floor: true });

const positionOf = ({ size, last_event }: AuditCheckpointRow): EventPosition => ({
  sequence: Number(size),
  eventId: last_event,
});

function toRead(row: AuditEventRow, recordedAt: Date, bytes: number): Read {
  const sequence = Number(row.sequence);
  const event = {
    id: row.id,
    occurredAt: row.occurred_at.toISOString(),
    kind: kindOfRow(row),
    ...actorNameOf(row),
    assetId: row.asset_id,
    clientId: row.client_id,
    requestId: row.request_id,
    changes: row.changes,
  };
  return {
    event: publish(event, sequence, recordedAt.toISOString()),
    position: { sequence, eventId: row.id },
    bytes,
  };
}
