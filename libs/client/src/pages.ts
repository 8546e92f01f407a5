import { Problem } from './problem';

/** A page of a list, as the API answers it. */
export interface Page<Item> {
  readonly results: readonly Item[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null; readonly totalCount: number };
}

/** A list, read page by page as far as the loop goes. Each loop over it is a walk of its own, from the beginning. */
export class Pages<Item> implements AsyncIterable<Item> {
  readonly #load: (cursor: string | null) => Promise<Page<Item>>;

  constructor(load: (cursor: string | null) => Promise<Page<Item>>) {
    this.#load = load;
  }

  /** Item by item. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page.results;
  }

  /** Page by page: with the total count, and the cursor from which a later walk can go on. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    for (let cursor: string | null = null; ;) {
      const page: Page<Item> = await this.#load(cursor);
      if (!isPage(page)) throw unexpected('The answer is no page of a list.');
      yield page;
      if (!page.pageInfo.hasNextPage) return;
      const { endCursor } = page.pageInfo;
      // From the same place it would go on for ever.
      if (typeof endCursor !== 'string' || endCursor === cursor) {
        throw unexpected('A page says that there is a next one, and does not name another endCursor.');
      }
      cursor = endCursor;
    }
  }
}

function isPage({ results, pageInfo }: Partial<Page<unknown>>): boolean {
  return Array.isArray(results) && typeof pageInfo?.hasNextPage === 'boolean';
}

function unexpected(detail: string): Problem {
  return Problem.unexpected({ status: 200, headers: new Headers() }, detail);
}
