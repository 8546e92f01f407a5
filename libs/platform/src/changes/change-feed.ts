import { Injectable } from '@nestjs/common';
import {
  type AssetId,
  CHANGE_ORIGINS,
  type Change,
  type ChangeOrigin,
  type ChangePage,
  type FeedStart,
  type Freshness,
  type WorkspaceId,
  assetId,
} from '#libs/kernel';
import { Database } from '../database/database';
import { type Statement, type TextRow, bind } from '../database/pipelined-statements';
import { CursorExpired } from './cursor-expired';
import { END_OF_SET, type FeedPosition, readPosition, writePosition } from './feed-position';
import { FEED_COLUMNS } from './feed-statement';

/** One of the feeds: its statement, and what its rows are. */
export interface Feed<Item> {
  readonly statement: Statement;
  readonly toItem: (row: TextRow) => Item;
  /** Columns of the item in front of {@link FEED_COLUMNS}. */
  readonly itemColumns: number;
  /** The first and last sub key that the reader asks for. */
  readonly subKeys: readonly [first: number, last: number];
}

/** The newest set, and the first one at or after $2. */
const FIND_START: Statement = {
  name: 'change_find_start_1',
  text: `
    SELECT head.sequence, head.mark, head.purged_sequence,
           (SELECT sequence FROM change_set WHERE workspace_id = $1 AND changed_at >= $2::timestamptz
             ORDER BY changed_at, sequence LIMIT 1)
      FROM change_head AS head WHERE workspace_id = $1`,
};

type Entry<Item> = Change<AssetId, Item>;

/** Reads change feeds: the latest state of each item, ordered by commit, from a cursor on (docs/decisions/0008). */
@Injectable()
export class ChangeFeed {
  constructor(private readonly database: Database) {}

  /** @throws {@link CursorExpired} where the reader could miss a change. */
  async read<Item>(
    workspaceId: WorkspaceId,
    feed: Feed<Item>,
    start: FeedStart,
    size: number,
    freshness: Freshness,
  ): Promise<ChangePage<Entry<Item>>> {
    if (start.kind === 'now') {
      return { changes: [], position: await this.positionNow(workspaceId), hasMore: false };
    }
    const from = await this.startOf(workspaceId, start, freshness);
    const page = await this.readPage(workspaceId, feed, from, size, freshness);
    if (page) return page;
    // A standby may not have what the cursor names yet.
    const newest = freshness === 'recent' ? await this.readPage(workspaceId, feed, from, size, 'newest') : null;
    if (!newest) throw new CursorExpired('diverged');
    return newest;
  }

  /** The position behind everything that is committed now, in every feed of the workspace. */
  async positionNow(workspaceId: WorkspaceId): Promise<string> {
    const [newest, mark] = await this.head(workspaceId, new Date(), 'newest');
    return writePosition({ ...endOf(newest ?? '0', mark ?? ''), begunAt: newest ?? '0', removalsAfter: '0' });
  }

  /** The newest set, its mark, the newest purged set, and the first set since; nothing before the first change. */
  private async head(workspaceId: WorkspaceId, since: Date, freshness: Freshness): Promise<TextRow | []> {
    const values = [workspaceId, since.toISOString()];
    const [rows] = await this.database.read({ workspaceId }, [bind(FIND_START, values)], freshness);
    return rows?.[0] ?? [];
  }

  private async startOf(
    workspaceId: WorkspaceId,
    start: Exclude<FeedStart, { readonly kind: 'now' }>,
    freshness: Freshness,
  ): Promise<FeedPosition | null> {
    if (start.kind === 'position') return readPosition(start.position);
    if (start.kind === 'beginning') return null;
    const [newest, mark, purged, first] = await this.head(workspaceId, start.since, freshness);
    const reader = { begunAt: newest ?? '0', removalsAfter: '0' };
    if (first == null) return { ...endOf(newest ?? '0', mark ?? ''), ...reader };
    if (BigInt(first) <= BigInt(purged ?? 0)) throw new CursorExpired('purged', 'since');
    return { ...endOf(String(BigInt(first) - 1n), ''), ...reader };
  }

  /** Null where this database does not know the position. */
  private async readPage<Item>(
    workspaceId: WorkspaceId,
    feed: Feed<Item>,
    from: FeedPosition | null,
    size: number,
    freshness: Freshness,
  ): Promise<ChangePage<Entry<Item>> | null> {
    const { statement, subKeys } = feed;
    const { sequence, subKey, id } = from ?? START;
    // Whoever begins learns from the same statement where the head is; no removal is behind it.
    const values = [workspaceId, sequence, subKey, id, String(size + 1), ...subKeys.map(String)];
    values.push(from?.removalsAfter ?? LARGEST);
    const [rows = []] = await this.database.read({ workspaceId }, [bind(statement, values)], freshness);
    const read = (row: TextRow | undefined, column: FeedColumn): string | null =>
      row?.[feed.itemColumns + PLACES[column]] ?? null;

    const head = (column: FeedColumn): string | null => read(rows[0], column);
    const headSequence = head('head_sequence') ?? '0';
    if (from && !isKnown(from, head('known_mark'), head('restarted_sequence'))) return null;
    const reader = { begunAt: from?.begunAt ?? headSequence, removalsAfter: from?.removalsAfter ?? headSequence };
    if (isPurged(reader.removalsAfter, from ?? START, head('purged_sequence'))) throw new CursorExpired('purged');

    const present = rows.filter((row) => read(row, 'has_row') === 't');
    const unshown = present.findIndex((row) => read(row, 'is_shown') === 'f');
    const isCut = unshown !== -1 || present.length > size;
    const shown = present.slice(0, Math.min(size, unshown === -1 ? size : unshown));
    const changes = shown.map((row) =>
      toChange(
        (column) => read(row, column),
        () => feed.toItem(row),
      ),
    );
    if (isCut) {
      const last = present[Math.min(size - 1, unshown === -1 ? size : unshown)];
      return {
        changes,
        position: writePosition({ ...placeOf((column) => read(last, column)), ...reader }),
        hasMore: true,
      };
    }
    const tail = head('tail_sequence');
    const hasMore = tail !== null && tail !== headSequence;
    const end = hasMore ? endOf(tail, head('tail_mark')) : endOf(headSequence, head('head_mark'));
    return { changes, position: writePosition({ ...end, ...reader }), hasMore };
  }
}

/** Behind every set there can be. */
const LARGEST = '9223372036854775807';
const START = { sequence: '0', subKey: '0', id: '0' };

type FeedColumn = (typeof FEED_COLUMNS)[number];
const PLACES = Object.fromEntries(FEED_COLUMNS.map((name, place) => [name, place])) as Record<FeedColumn, number>;

type Columns = (column: FeedColumn) => string | null;

const placeOf = (columns: Columns) => ({
  sequence: columns('sequence') as string,
  mark: columns('mark') as string,
  subKey: columns('sub_key') as string,
  id: columns('id') as string,
});

const endOf = (sequence: string, mark: string | null) => ({ sequence, mark: mark ?? '', ...END_OF_SET });

/** Whether the set of the position is the one that the reader saw, and no operator had readers begin again. */
function isKnown({ mark, begunAt }: FeedPosition, knownMark: string | null, restarted: string | null): boolean {
  return BigInt(begunAt) >= BigInt(restarted ?? 0) && (mark === '' || mark === knownMark);
}

/** Whether a removal that the reader must hear of was purged. */
function isPurged(removalsAfter: string, from: Pick<FeedPosition, 'sequence' | 'subKey'>, purged: string | null) {
  if (purged === null || BigInt(purged) <= BigInt(removalsAfter)) return false;
  const seen = BigInt(from.sequence) - (from.subKey === END_OF_SET.subKey ? 0n : 1n);
  return seen < BigInt(purged);
}

function toChange<Item>(columns: Columns, toItem: () => Item): Entry<Item> {
  return {
    id: assetId(columns('public_id') as string),
    changedAt: new Date(Number(columns('changed_at'))),
    origin: toOrigin(columns),
    item: columns('is_visible') === 't' ? toItem() : null,
  };
}

function toOrigin(columns: Columns): ChangeOrigin {
  const type = CHANGE_ORIGINS[Number(columns('origin')) - 1];
  if (type === 'API') {
    return { type, clientId: columns('client_id') as string, requestId: columns('request_id') as string };
  }
  return { type: type ?? 'OPERATOR' };
}
