import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';
import type { Page } from '#libs/kernel';
import { StreamTurns, type StreamedRows, streamLines } from './stream-lines';

const page = (items: readonly string[], at: number, isLast: boolean): Page<string> => ({
  items,
  lastPosition: items.length > 0 ? String(at) : null,
  endPosition: isLast ? null : String(at),
  totalCount: 0,
});

/** Reads these pages, and adds the size of each read. Each takes so many milliseconds. */
function rowsOf(pages: readonly (readonly string[])[], readMs = 0, sizes: number[] = []): StreamedRows<string> {
  let [at, now] = [0, 0];
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const next = (): Page<string> => page(pages[at] ?? [], at, ++at === pages.length);
  return {
    start: null,
    first: next(),
    countBefore: 0,
    read: ({ size }) => {
      sizes.push(size);
      now += readMs;
      return Promise.resolve(next());
    },
    line: (name) => ({ name }),
    checkpoint: (after) => after,
    sent: () => undefined,
  };
}

describe('The lines of a stream', () => {
  afterEach(() => jest.restoreAllMocks());

  const linesOf = async (rows: StreamedRows<string>): Promise<unknown[]> => {
    let text = '';
    for await (const piece of streamLines(rows, new StreamTurns())) text += piece;
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
  };

  it('have a checkpoint every five seconds while pages hold little', async () => {
    const lines = await linesOf(rowsOf([['a'], [], [], [], ['b'], [], []], 2_500));

    expect(lines).toEqual([
      { name: 'a' },
      { type: 'checkpoint', pageCursor: '2', count: 1 },
      { name: 'b' },
      { type: 'checkpoint', pageCursor: '4', count: 2 },
      { type: 'end', count: 2 },
    ]);
  });

  it('have no other checkpoint while pages come quickly', async () => {
    expect(await linesOf(rowsOf([[], [], ['a'], []]))).toEqual([{ name: 'a' }, { type: 'end', count: 1 }]);
  });

  it('are read in sizes that fit their bytes', async () => {
    const sizes: number[] = [];
    const of = (count: number) => Array.from({ length: count }, () => 'x');

    await linesOf(rowsOf([of(40), of(30), of(60), of(120), of(240), of(480), of(30), [], of(1)], 0, sizes));

    expect(sizes).toEqual([80, 60, 120, 240, 480, 30, 60, 16]);
  });

  it('end only at line feeds, whatever the texts hold', async () => {
    const name = 'a\u0085b\u2028c\u2029d\u000be\u001cf';
    let text = '';
    for await (const piece of streamLines(rowsOf([[name]]), new StreamTurns())) text += piece;

    expect(text.split(/[\u0085\u2028\u2029\v\u001c-\u001e\r\n]/)).toHaveLength(3);
    expect(JSON.parse(text.split('\n')[0] ?? '')).toEqual({ name });
  });
});

describe('StreamTurns', () => {
  const workOf = (turns: StreamTurns, name: string, seen: string[], steps: number): Promise<void> =>
    (async () => {
      for (let step = 0; step < steps; step += 1) {
        await turns.take(async () => {
          seen.push(`${name} begins`);
          await nextTurnOfLoop();
          seen.push(`${name} ends`);
        });
      }
    })();

  it('lets one stream work at a time, each in its turn', async () => {
    const [turns, seen] = [new StreamTurns(), [] as string[]];

    await Promise.all(['a', 'b', 'c'].map((name) => workOf(turns, name, seen, 2)));

    const inOrder = ['a', 'b', 'c', 'a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]);
    expect(seen).toEqual(inOrder);
  });

  it('gives other work of the event loop a turn between two steps', async () => {
    const turns = new StreamTurns();
    let others = 0;
    const count = (): void => {
      others += 1;
      setImmediate(count).unref();
    };
    count();
    const seen: number[] = [];

    for (let step = 0; step < 3; step += 1) await turns.take(() => seen.push(others));

    expect(new Set(seen).size).toBe(3);
  });

  it('goes on after a step that fails', async () => {
    const turns = new StreamTurns();
    const failing = turns.take(() => Promise.reject(new Error('lost')));
    const next = turns.take(() => 'next');

    await expect(failing).rejects.toThrow('lost');
    expect(await next).toBe('next');
  });
});
