import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';
import { type Page, type PageRequest, jsonLine } from '#libs/kernel';

/** Rows of one read, after which there is a checkpoint. */
export const ROWS_PER_CHECKPOINT = 1_000;
/** A stream whose filters match little has a checkpoint after this long. A silent connection is cut after half a minute. */
const LONGEST_SILENCE_MS = 5_000;
/** Bytes of one read. A stream holds no more while its client does not read. */
export const BYTES_PER_READ = 512_000;
/** A read asks for twice the rows of the one before, and for as many at least. Rows that do not fit would be read in vain. */
const LEAST_ROWS = 16;
/** Lines made at once take about a millisecond, and then other requests have their turn. */
const LINES_AT_ONCE = 100;

/**
 * Lets one stream of the instance work at a time, for one short step. Streams that wait have their turns in the order in
 * which they asked. Before each step the event loop serves other requests.
 */
export class StreamTurns {
  private last: Promise<unknown> = Promise.resolve();

  take<Result>(step: () => Result | Promise<Result>): Promise<Result> {
    const turn = this.last.then(() => nextTurnOfLoop()).then(step);
    this.last = turn.catch(() => undefined);
    return turn;
  }
}

export interface StreamedRows<Item> {
  /** The start line, if the stream has one. */
  readonly start: object | null;
  readonly first: Page<Item>;
  readonly countBefore: number;
  read(page: PageRequest): Promise<Page<Item>>;
  line(item: Item): object;
  checkpoint(after: string, count: number): string;
  sent(rows: number): void;
}

/**
 * The text of a stream, piece by piece: the start, each item, a checkpoint after every 1,000 rows, and the end. While
 * pages with few items or none are read, a checkpoint also comes every five seconds. Reads a page only when its reader
 * wants more, and no transaction outlives a page.
 */
export async function* streamLines<Item>(rows: StreamedRows<Item>, turns: StreamTurns): AsyncGenerator<string> {
  if (rows.start) yield lineOf(rows.start);
  let count = rows.countBefore;
  let checkpointedAt = performance.now();
  for (let page = rows.first; ;) {
    for (let at = 0; at < page.items.length; at += LINES_AT_ONCE) {
      const items = page.items.slice(at, at + LINES_AT_ONCE);
      yield await turns.take(() => items.map((item) => lineOf(rows.line(item))).join(''));
      rows.sent(items.length);
    }
    count += page.items.length;
    const wanting = ROWS_PER_CHECKPOINT - (count % ROWS_PER_CHECKPOINT);
    if (page.lastPosition !== null && page.items.length > 0 && wanting === ROWS_PER_CHECKPOINT) {
      yield lineOf({ type: 'checkpoint', pageCursor: rows.checkpoint(page.lastPosition, count), count });
      checkpointedAt = performance.now();
    }
    if (page.endPosition === null) break;
    if (performance.now() - checkpointedAt >= LONGEST_SILENCE_MS) {
      yield lineOf({ type: 'checkpoint', pageCursor: rows.checkpoint(page.endPosition, count), count });
      checkpointedAt = performance.now();
    }
    const after = page.endPosition;
    const size = Math.min(wanting, Math.max(LEAST_ROWS, 2 * page.items.length));
    page = await turns.take(() => rows.read({ size, after, mostBytes: BYTES_PER_READ }));
  }
  yield lineOf({ type: 'end', count });
}

const lineOf = (line: object): string => `${jsonLine(line)}\n`;
