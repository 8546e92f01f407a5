import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';
import { LargePages } from './large-pages';

describe('A page', () => {
  let pages: LargePages;
  /** Turns of the event loop since the test began. */
  let turn: number;
  let isOver: boolean;
  beforeEach(() => {
    pages = new LargePages();
    turn = 0;
    isOver = false;
    void (async () => {
      while (!isOver) {
        await nextTurnOfLoop();
        turn += 1;
      }
    })();
  });
  afterEach(() => (isOver = true));

  const pageOf = (items: number, length: number) => {
    const turns = new Set<number>();
    const text = 'é'.repeat(length);
    const results = Array.from({ length: items }, (_, place) => ({
      place,
      toJSON: () => (turns.add(turn), { place, text }),
    }));
    const body = { results, pageInfo: { hasNextPage: false, endCursor: null }, resumeCursor: 'c' };
    const json = JSON.stringify(body);
    turns.clear();
    return { body, json, turns };
  };
  const made = async (body: object): Promise<string> =>
    pages.make(
      body,
      (text) => text,
      async (bytes) => Promise.resolve(`${bytes.toString()} as bytes`),
    );

  it.each([0, 1, 25, 26, 100])('of %d small items is made at once', (items) => {
    const { body, json, turns } = pageOf(items, 500);
    expect(
      pages.make(
        body,
        (text) => text,
        () => Promise.reject(new Error('large')),
      ),
    ).toBe(json);
    expect(turns.size).toBeLessThanOrEqual(1);
  });

  it('of large items lets others have their turn between its pieces', async () => {
    const { body, json, turns } = pageOf(100, 20_000);
    expect(await made(body)).toBe(`${json} as bytes`);
    expect(turns.size).toBeGreaterThanOrEqual(4);
  });

  it('whose last items alone are large is whole, and made in turns', async () => {
    const { body } = pageOf(100, 10);
    const large = pageOf(60, 30_000);
    body.results.splice(40, 60, ...large.body.results);
    const json = JSON.stringify(body);
    large.turns.clear();

    expect(await made(body)).toBe(`${json} as bytes`);
    expect(large.turns.size).toBeGreaterThanOrEqual(4);
  });

  it('is made at once while two others are made, which hold their items meanwhile', async () => {
    const [first, second, third] = [pageOf(100, 20_000), pageOf(100, 20_000), pageOf(100, 20_000)];
    const others = [made(first.body), made(second.body)];
    expect(await made(third.body)).toBe(third.json);
    expect(third.turns.size).toBe(1);
    await Promise.all(others);
    expect(await made(pageOf(100, 20_000).body)).toMatch(/ as bytes$/);
  });

  it('that cannot be sent makes room for others', async () => {
    for (let n = 0; n < 3; n += 1) {
      const refused = pages.make(
        pageOf(100, 20_000).body,
        () => 'at once',
        () => Promise.reject(new Error('refused')),
      );
      await expect(refused).rejects.toThrow('refused');
    }
  });

  it.each([{ results: [1] }, { a: 'x'.repeat(300_000) }, [1, 2], { results: null, pageInfo: {} }])(
    'is no other body, which stays as it is',
    async (body) => {
      expect(await made(body)).toMatch(JSON.stringify(body));
    },
  );
});
