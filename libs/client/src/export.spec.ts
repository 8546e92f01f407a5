import { Export, type ExportLine, type ExportOptions } from './export';
import { ConnectionLost, Problem } from './problem';

const item = (asset: number): ExportLine => ({ type: 'asset', asset });
const checkpoint = (pageCursor: string): ExportLine => ({ type: 'checkpoint', pageCursor });
const START = { type: 'start', totalCount: 4, resumeCursor: 'feed' };
const RESUMED = { type: 'start', totalCount: 4, resumed: true };
const END = { type: 'end', count: 4 };

/** Responses by the checkpoint that they begin at; a response without an end was cut. */
function exportOf(responses: Record<string, ExportLine[]>, options: ExportOptions = {}) {
  const asked: (string | null)[] = [];
  const open = async (from: string | null): Promise<AsyncIterable<ExportLine>> => {
    asked.push(from);
    const lines = responses[`${from} ${asked.filter((one) => one === from).length}`] ?? responses[String(from)] ?? [];
    return (async function* () {
      yield* lines;
    })();
  };
  return { asked, items: new Export<number>(open, 'asset', options, 1) };
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const seen: Item[] = [];
  for await (const one of items) seen.push(one);
  return seen;
}

describe('client.export', () => {
  it('returns the items of a complete response and ignores unknown lines', async () => {
    const { items } = exportOf({ null: [START, item(1), { type: 'new' }, checkpoint('a'), item(2), END] });

    expect(await all(items)).toEqual([1, 2]);
  });

  it('resumes from the last checkpoint after a cut and repeats no item', async () => {
    const { items, asked } = exportOf({
      null: [START, item(1), checkpoint('a'), item(2)],
      'a 1': [RESUMED, item(2), item(3)],
      'a 2': [RESUMED, item(2), item(3), checkpoint('b'), item(4), END],
    });

    expect(await all(items)).toEqual([1, 2, 3, 4]);
    expect(asked).toEqual([null, 'a', 'a']);
  });

  it('throws after repeated cuts without a checkpoint in between', async () => {
    const { items } = exportOf({ null: [START, item(1)] });

    await expect(all(items)).rejects.toBeInstanceOf(ConnectionLost);
  });

  it('waits for the place of a stream, which a lost first attempt may hold', async () => {
    let asked = 0;
    const open = async (): Promise<AsyncIterable<ExportLine>> => {
      if ((asked += 1) < 3) throw new Problem('export_in_progress', 409, '', [], null, null);
      return (async function* () {
        yield* [START, item(1), END];
      })();
    };

    expect(await all(new Export<number>(open, 'asset', {}, 1))).toEqual([1]);
  });

  it('stores a checkpoint once its items are handled, and null at the end', async () => {
    const events: unknown[] = [];
    const checkpointStore = {
      read: async () => 'a',
      write: async (written: string | null) => void events.push(`stored ${written}`),
    };
    const { items } = exportOf({ a: [RESUMED, item(2), checkpoint('b'), item(3), END] }, { checkpointStore });

    for await (const one of items) events.push(one);

    expect(events).toEqual([2, 'stored b', 3, 'stored null']);
  });

  it('returns the cursor of the feed', async () => {
    const written: string[] = [];
    const feedCursorStore = { write: async (cursor: string) => void written.push(cursor) };

    await all(exportOf({ null: [START, END] }, { feedCursorStore }).items);

    expect(written).toEqual(['feed']);
  });

  it('throws the reason of its signal when it is cancelled during the pause after a cut', async () => {
    const cancelled = new AbortController();
    const open = async (): Promise<AsyncIterable<ExportLine>> => {
      setTimeout(() => cancelled.abort('given up'), 20);
      return Promise.reject(new ConnectionLost(new Error('cut')));
    };
    const items = new Export<number>(open, 'asset', { signal: cancelled.signal }, 60_000);

    await expect(all(items)).rejects.toBe('given up');
  });
});
