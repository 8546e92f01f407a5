import { Problem } from './problem';

/** A page of a list, as the API returns it. */
export interface Page<Item> {
  readonly results: readonly Item[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null; readonly totalCount: number };
}

/** A list that is read page by page, as far as your loop goes. Each loop starts at the beginning. */
export class Pages<Item> implements AsyncIterable<Item> {
  readonly #load: (cursor: string | null) => Promise<Page<Item>>;

  constructor(load: (cursor: string | null) => Promise<Page<Item>>) {
    this.#load = load;
  }

  /** Yields items one by one. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page.results;
  }

  /** Yields pages, each with the total count and the cursor for continuing later. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    for (let cursor: string | null = null; ;) {
      const page: Page<Item> = await this.#load(cursor);
      if (!isPage(page)) throw unexpected('The response is not a page of a list.');
      yield page;
      if (!page.pageInfo.hasNextPage) return;
      const { endCursor } = page.pageInfo;
      // The same cursor would repeat the same page for ever.
      if (typeof endCursor !== 'string' || endCursor === cursor) {
        throw unexpected('A page says that there is a next one, and does not name another endCursor.');
      }
      cursor = endCursor;
    }
  }
}

export function isPage({ results, pageInfo }: { results?: unknown; pageInfo?: { hasNextPage?: unknown } }): boolean {
  return Array.isArray(results) && typeof pageInfo?.hasNextPage === 'boolean';
}

export function unexpected(detail: string): Problem {
  return Problem.unexpected({ status: 200, headers: new Headers() }, detail);
}
