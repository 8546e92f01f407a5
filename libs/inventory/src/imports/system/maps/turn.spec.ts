import { countTurns } from '../../../../../../test/support/event-loop-turns';
import type { RecordMap } from '../../domain/maps/record-map';
import { opened } from '../input-format';
import { plainBytes } from '../plain-bytes';
import { mappedLines } from './mapped-lines';

/** Works on an item for a millisecond, without a promise. */
const slow = (): { leftOut: true } => {
  const end = performance.now() + 1;
  while (performance.now() < end);
  return { leftOut: true };
};

describe('Reading items by a map', () => {
  /** An item that many share a large part of takes long to measure. */
  const found = { reads: null, find: () => Promise.resolve(Array(200).fill({ toJSON: slow })) };
  const quick = () => ({ leftOut: true }) as const;
  it.each([
    ['maps', null, slow],
    ['finds by an expression', found, quick],
  ])('lets the process do other work between the items that it %s, one turn after each', async (_, items, mapped) => {
    const map: RecordMap = { name: 'slow', files: [], items, members: [], idOf: () => 'a', mapped };
    const content = (async function* () {
      yield await Promise.resolve(Buffer.from(`[${Array(200).fill('{}').join(',')}]`));
    })();
    const { start, bytes } = await opened(plainBytes(content, false));
    const turns = countTurns();

    let read = 0;
    for await (const lines of mappedLines(bytes, start, { fileIndex: 0, file: '-', format: null, map })) {
      read += lines.length;
    }
    turns.end();

    expect([read, turns.count > 30]).toEqual([200, true]);
  });
});
