import { type Page, Pages } from './pages';

const page = (item: number, endCursor: string | null, hasNextPage = true): Page<number> => ({
  results: [item],
  pageInfo: { hasNextPage, endCursor, totalCount: 3 },
});

/** Reads at most ten items, so an endless list shows up as ten items. */
async function walk(load: (cursor: string | null) => Page<number>): Promise<{ seen: number[]; failure: unknown }> {
  const seen: number[] = [];
  try {
    for await (const item of new Pages(async (cursor) => load(cursor))) {
      if (seen.push(item) === 10) break;
    }
    return { seen, failure: null };
  } catch (failure) {
    return { seen, failure };
  }
}

const UNEXPECTED = { name: 'Problem', code: 'unexpected_answer', status: 200 };

describe('A walk over a list', () => {
  it('follows cursors until there is no next page', async () => {
    const pages = new Map([
      [null, page(1, 'a')],
      ['a', page(2, 'b')],
      ['b', page(3, null, false)],
    ]);
    const { seen, failure } = await walk((cursor) => pages.get(cursor) as Page<number>);
    expect([seen, failure]).toEqual([[1, 2, 3], null]);
  });

  it('throws a problem when a next page is promised without a cursor', async () => {
    const { seen, failure } = await walk(() => page(1, null));
    expect(seen).toEqual([1]);
    expect(failure).toMatchObject(UNEXPECTED);
  });

  it('does not start again when a later page has no cursor', async () => {
    const { seen, failure } = await walk((cursor) => (cursor === null ? page(1, 'a') : page(2, null)));
    expect(seen).toEqual([1, 2]);
    expect(failure).toMatchObject(UNEXPECTED);
  });

  it('throws a problem when the cursor stays the same', async () => {
    const { seen, failure } = await walk((cursor) => page(cursor === null ? 1 : 2, 'a'));
    expect(seen).toEqual([1, 2]);
    expect(failure).toMatchObject(UNEXPECTED);
  });
});
