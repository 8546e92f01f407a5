import { Injectable } from '@nestjs/common';
import {
  type AssetId,
  type Change,
  type ChangePage,
  type FeedStart,
  type ReadScope,
  type WorkspaceId,
  newestOf,
  assetId,
} from '#libs/kernel';
import { Database } from '../database/database';
import { RowBudget, type Statement, type TextRow, bind, prepared } from '../database/pipelined-statements';
import {
  CursorExpired,
  END_OF_SET,
  EVERY_KIND,
  LARGEST,
  type FeedPosition,
  readPosition,
  writePosition,
} from './feed-position';
import { originOf } from './ticket';
import type { FeedHead } from './feed-statement';

/** A page ends with the row that reaches this size in Postgres' text form, which is about as long as JSON. */
export const MAX_FEED_PAGE_BYTES = 2_000_000;

/** One of the feeds: its statement, and how to read its rows. */
export interface Feed<Item> {
  readonly statement: Statement;
  readonly toItem: (row: TextRow) => Item;
  /** The first and last kind that the reader asks for; all of them if absent. */
  readonly kinds?: readonly [first: number, last: number];
}

/** The newest set, and the first one at or after $2. */
const FIND_START = prepared(
  'change_find_start',
  `
    SELECT head.sequence, head.mark, head.purged_sequence, head.restarted_sequence,
           (SELECT sequence FROM change_set WHERE workspace_id = $1 AND changed_at >= $2::timestamptz
             ORDER BY changed_at, sequence LIMIT 1)
      FROM change_head AS head WHERE workspace_id = $1`,
);

type Entry<Item> = Change<AssetId, Item>;

/** Reads change feeds: the latest state of each item, ordered by commit, from a cursor on (docs/decisions/0008). */
@Injectable()
export class ChangeFeed {
  constructor(private readonly database: Database) {}

  /** @throws {@link CursorExpired} where the reader could miss a change. */
  async read<Item>(
    scope: ReadScope,
    feed: Feed<Item>,
    start: FeedStart,
    size: number,
  ): Promise<ChangePage<Entry<Item>>> {
    if (start.kind === 'now') {
      return { changes: [], position: await this.positionNow(scope.workspaceId), hasMore: false };
    }
    const from = await this.startOf(scope, start);
    const page = await this.readPage(scope, feed, from, size);
    if (page) return page;
    // A standby may not have the newest set of the cursor yet.
    const { workspaceId, freshness } = scope;
    const newest = freshness === 'recent' ? await this.readPage(newestOf(workspaceId), feed, from, size) : null;
    if (!newest) throw new CursorExpired('diverged');
    return newest;
  }

  /** The position behind everything that is committed now, in every feed of the workspace. */
  async positionNow(workspaceId: WorkspaceId): Promise<string> {
    const [newest, mark] = await this.head(newestOf(workspaceId), new Date());
    return writePosition(behind(newest, newest, mark));
  }

  /** The newest set, its mark, the newest purged set, the last restart, and the first set since; nothing before any change. */
  private async head(scope: ReadScope, since: Date): Promise<TextRow | []> {
    const values = [scope.workspaceId, since.toISOString()];
    const [rows] = await this.database.read(scope, [bind(FIND_START, values)]);
    return rows?.[0] ?? [];
  }

  private async startOf(
    scope: ReadScope,
    start: Exclude<FeedStart, { readonly kind: 'now' }>,
  ): Promise<FeedPosition | null> {
    if (start.kind === 'beginning') return null;
    if (start.kind === 'since') return this.before(scope, start.since, 'since');
    const seen = readPosition(start.position);
    if (!seen.since) return seen;
    const { newest, mark } = seen;
    return { ...(await this.before(newestOf(scope.workspaceId), seen.since, 'pageCursor')), newest, mark };
  }

  /** The position before the changes since this time. As long as there is none, the reader keeps waiting for the time. */
  private async before(scope: ReadScope, since: Date, parameter: 'since' | 'pageCursor'): Promise<FeedPosition> {
    const [newest, mark, purged, restarted, first] = await this.head(scope, since);
    if (first == null) return { ...behind(newest, newest, mark), since };
    if (BigInt(first) <= BigInt(restarted ?? 0)) throw new CursorExpired('diverged', parameter);
    if (BigInt(first) <= BigInt(purged ?? 0)) throw new CursorExpired('purged', parameter);
    return behind(String(BigInt(first) - 1n), newest, mark);
  }

  /** Null where this database does not know the position. */
  private async readPage<Item>(
    scope: ReadScope,
    feed: Feed<Item>,
    from: FeedPosition | null,
    size: number,
  ): Promise<ChangePage<Entry<Item>> | null> {
    const { statement, kinds = EVERY_KIND } = feed;
    const { sequence, kind, id } = from ?? START;
    // A reader that begins needs no removals, and knows no newest set yet.
    const values = [scope.workspaceId, sequence, kind, id, String(size + 1), ...kinds.map(String)];
    values.push(from?.removalsAfter ?? LARGEST, from?.newest ?? '0');
    // The head, the page, and one row more.
    const budget = new RowBudget(size + 2, MAX_FEED_PAGE_BYTES);
    const bound = bind(statement, values, budget);
    const [[first, ...rows] = []] = await this.database.read(scope, [bound]);
    const head = JSON.parse(first?.[0] as string) as FeedHead;
    if (from && !isKnown(from, head)) return null;
    const newest = head.sequence ?? '0';
    const reader = { newest, mark: head.mark ?? '', removalsAfter: from?.removalsAfter ?? newest };
    if (isPurged(reader.removalsAfter, from ?? START, head.purged)) throw new CursorExpired('purged');
    if (from?.since) {
      const position = writePosition({ ...endOf(newest), ...reader, since: from.since });
      return { changes: [], position, hasMore: false };
    }

    const shown = rows.slice(0, size).map((row) => readRow(row, feed.toItem));
    const changes = shown.map(({ change }) => change);
    if (rows.length > size || budget.isCut) {
      const place = shown.at(-1)?.place as Place;
      return { changes, position: writePosition({ ...place, ...reader }), hasMore: true };
    }
    const tail = head.tail ?? newest;
    return { changes, position: writePosition({ ...endOf(tail), ...reader }), hasMore: tail !== newest };
  }
}

const START = { sequence: '0', kind: '0', id: '0' };

type Place = Pick<FeedPosition, 'sequence' | 'kind' | 'id'>;

const endOf = (sequence: string) => ({ sequence, ...END_OF_SET });

/** The position behind a set, of a reader to whom every removal behind it matters. */
const behind = (sequence: MaybeText, newest: MaybeText, mark: MaybeText): FeedPosition => ({
  ...endOf(sequence ?? '0'),
  newest: newest ?? '0',
  mark: mark ?? '',
  removalsAfter: '0',
});
/** Null and absent before the first change of a workspace. */
type MaybeText = string | null | undefined;

/** Whether everything that the reader saw is in this database, and no operator had readers begin again since. */
function isKnown({ newest, mark }: FeedPosition, { knownMark, restarted }: FeedHead): boolean {
  return BigInt(newest) >= BigInt(restarted ?? 0) && (mark === '' || mark === knownMark);
}

/** Whether a removal that the reader must hear of was purged. */
function isPurged(removalsAfter: string, from: Pick<FeedPosition, 'sequence' | 'kind'>, purged: string | null) {
  if (purged === null || BigInt(purged) <= BigInt(removalsAfter)) return false;
  const seen = BigInt(from.sequence) - (from.kind === END_OF_SET.kind ? 0n : 1n);
  return seen < BigInt(purged);
}

/** Reads a row behind the first one of a feed's statement, and the position behind it. */
function readRow<Item>(row: TextRow, toItem: (row: TextRow) => Item) {
  const [, publicId, isVisible, sequence, kind, id, changedAt, origin, clientId, requestId, ...item] = row;
  const change: Entry<Item> = {
    id: assetId(publicId as string),
    changedAt: new Date(Number(changedAt)),
    origin: originOf(origin, clientId, requestId),
    item: isVisible === 't' ? toItem(item) : null,
  };
  return { change, place: { sequence, kind, id } as Place };
}
