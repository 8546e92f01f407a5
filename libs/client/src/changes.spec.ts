import { type ChangePage, Changes } from './changes';

const PAGES: Record<string, ChangePage<string>> = {
  start: { results: ['a', 'b'], pageInfo: { hasNextPage: true }, resumeCursor: 'one' },
  one: { results: [], pageInfo: { hasNextPage: true }, resumeCursor: 'two' },
  two: { results: ['c'], pageInfo: { hasNextPage: false }, resumeCursor: 'three' },
  three: { results: [], pageInfo: { hasNextPage: false }, resumeCursor: 'three' },
};
const load = (cursor: string | null) => Promise.resolve(PAGES[cursor ?? 'start'] as ChangePage<string>);

class Store {
  readonly written: string[] = [];
  read = () => Promise.resolve(this.written.at(-1) ?? null);
  write = (cursor: string) => Promise.resolve(void this.written.push(cursor));
}

describe('client.changes', () => {
  it('passes empty pages to the end, and continues from the stored cursor', async () => {
    const cursorStore = new Store();
    const seen: string[] = [];

    for await (const change of new Changes(load, { cursorStore })) seen.push(change);
    for await (const change of new Changes(load, { cursorStore })) seen.push(change);

    expect(seen).toEqual(['a', 'b', 'c']);
    expect(cursorStore.written).toEqual(['one', 'two', 'three', 'three']);
  });

  it('stores no cursor of a page that the loop has not handled', async () => {
    const cursorStore = new Store();

    for await (const change of new Changes(load, { cursorStore })) if (change === 'c') break;

    expect(cursorStore.written).toEqual(['one', 'two']);
  });

  it('asks again after a pause at the end, until it is cancelled', async () => {
    const cancelled = new AbortController();
    let asked = 0;
    const feed = new Changes(
      (cursor) => {
        if ((asked += 1) === 5) cancelled.abort();
        return load(cursor);
      },
      { pollMs: 1, signal: cancelled.signal },
    );

    const follow = async (): Promise<void> => {
      for await (const _ of feed.pages());
    };

    await expect(follow()).rejects.toThrow('aborted');
    expect(asked).toBe(5);
  });

  it('throws the reason of its signal when it is cancelled during the pause', async () => {
    const cancelled = new AbortController();
    const feed = new Changes(load, { pollMs: 60_000, signal: cancelled.signal });
    const follow = async (): Promise<void> => {
      for await (const { pageInfo } of feed.pages()) {
        if (!pageInfo.hasNextPage) setTimeout(() => cancelled.abort('given up'), 20);
      }
    };

    await expect(follow()).rejects.toBe('given up');
  });
});
