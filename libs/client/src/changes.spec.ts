import { type ChangePage, Changes } from './changes';
import { ConnectionLost, Problem } from './problem';

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

    for await (const change of new Changes<string>(load, { cursorStore })) seen.push(change);
    for await (const change of new Changes<string>(load, { cursorStore })) seen.push(change);

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

  describe('that cannot be read', () => {
    const problem = (status: number) => new Problem('any', status, '', [], null, null);
    const follow = async (failures: Error[], pollMs?: number): Promise<string[]> => {
      const seen: string[] = [];
      const failing = (cursor: string | null) => {
        const failure = cursor === 'one' ? failures.pop() : undefined;
        return failure ? Promise.reject(failure) : load(cursor);
      };
      for await (const change of new Changes<string>(failing, pollMs === undefined ? {} : { pollMs })) {
        seen.push(change);
        if (change === 'c') break;
      }
      return seen;
    };

    it('is asked again from the same cursor after a pause', async () => {
      const outage = [new ConnectionLost(new Error('down')), problem(503), problem(429)];

      expect(await follow(outage, 1)).toEqual(['a', 'b', 'c']);
    });

    it('throws a lost connection before the first page, as a wrong address or certificate fails for ever', async () => {
      const failures = [new ConnectionLost(new Error('expired')), problem(503)];
      const feed = new Changes(() => Promise.reject(failures.pop() ?? new Error('asked again')), { pollMs: 1 });

      await expect(feed.pages().next()).rejects.toBeInstanceOf(ConnectionLost);
    });

    it('throws what does not pass, and everything to a loop that does not wait', async () => {
      await expect(follow([problem(410)], 1)).rejects.toMatchObject({ status: 410 });
      await expect(follow([problem(503)])).rejects.toMatchObject({ status: 503 });
    });
  });

  it.each([
    {},
    { results: [], pageInfo: { hasNextPage: false } },
    { results: [], pageInfo: {}, resumeCursor: 'one' },
    { results: {}, pageInfo: { hasNextPage: false }, resumeCursor: 'one' },
  ])('throws a problem, and stores nothing, when the response is no page: %j', async (body) => {
    const cursorStore = new Store();
    const pages = new Changes(() => Promise.resolve(body as ChangePage<string>), { cursorStore }).pages();

    await expect(pages.next()).rejects.toMatchObject({ name: 'Problem', code: 'unexpected_answer' });
    expect(cursorStore.written).toEqual([]);
  });

  it('throws a problem when a page promises a next one without another cursor', async () => {
    const same = { results: ['a'], pageInfo: { hasNextPage: true }, resumeCursor: 'one' };
    const pages = new Changes(() => Promise.resolve(same), {}).pages();

    expect((await pages.next()).value).toBe(same);
    await expect(pages.next()).rejects.toMatchObject({ code: 'unexpected_answer' });
  });
});
