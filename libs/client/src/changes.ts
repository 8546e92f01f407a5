import { sleep } from './abort';
import { checkNumbers } from './checked-numbers';
import { isPage, unexpected } from './pages';
import { ConnectionLost } from './problem';
import { mayPass } from './retry';

/** A page of a change feed, as the API returns it. */
export interface ChangePage<Change> {
  readonly results: readonly Change[];
  readonly pageInfo: { readonly hasNextPage: boolean };
  readonly resumeCursor: string;
}

/** Keeps the cursor of a feed between runs. */
export interface CursorStore {
  /** Null before the first run. */
  read(): Promise<string | null>;
  write(cursor: string): Promise<void>;
}

export interface FollowOptions {
  /** Without one every loop begins with every visible item. */
  readonly cursorStore?: CursorStore;
  /**
   * Pause in milliseconds before the feed is asked again at its end, and after an outage of the API. Without it the loop ends
   * there. A connection that fails before the first page always ends it.
   */
  readonly pollMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * A change feed, from the cursor of the store on. The cursor of a page is stored once your loop has handled all of its
 * changes, so a change is repeated after a crash and never lost.
 */
export class Changes<Change, Page extends ChangePage<Change> = ChangePage<Change>> implements AsyncIterable<Change> {
  readonly #load: (cursor: string | null) => Promise<Page>;
  readonly #options: FollowOptions;

  constructor(load: (cursor: string | null) => Promise<Page>, options: FollowOptions) {
    checkNumbers({ pollMs: options.pollMs });
    this.#load = load;
    this.#options = options;
  }

  /** Yields changes one by one. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Change, void, undefined> {
    for await (const page of this.pages()) yield* page.results;
  }

  /** Yields pages. Apply a page in one transaction with its `resumeCursor` to see no change twice. */
  async *pages(): AsyncGenerator<Page, void, undefined> {
    const { cursorStore, pollMs, signal } = this.#options;
    let isReached = false;
    for (let cursor = (await cursorStore?.read()) ?? null; ;) {
      let page: Page;
      try {
        page = await this.#load(cursor);
        isReached = true;
      } catch (error) {
        // Before the first page a wrong address or certificate looks like an outage.
        const isWrong = !isReached && error instanceof ConnectionLost;
        if (pollMs === undefined || isWrong || !mayPass(error)) throw error;
        await sleep(pollMs, signal);
        continue;
      }
      if (!isChangePage(page)) throw unexpected('The response is not a page of a feed.');
      // The same cursor would repeat the same page for ever.
      if (page.pageInfo.hasNextPage && page.resumeCursor === cursor) {
        throw unexpected('A page says that there is a next one, and does not name another resumeCursor.');
      }
      yield page;
      cursor = page.resumeCursor;
      await cursorStore?.write(cursor);
      if (page.pageInfo.hasNextPage) continue;
      if (pollMs === undefined) return;
      await sleep(pollMs, signal);
    }
  }
}

function isChangePage(page: Partial<ChangePage<unknown>>): boolean {
  return isPage(page) && typeof page.resumeCursor === 'string';
}
