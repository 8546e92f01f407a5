import type { RecordMap } from '../../domain/maps/record-map';
import { opened } from '../input-format';
import { plainBytes } from '../plain-bytes';
import { mappedLines } from './mapped-lines';

/** Works on an item for ten milliseconds, without a promise. */
const slow = (): { leftOut: true } => {
  const end = performance.now() + 10;
  while (performance.now() < end);
  return { leftOut: true };
};

describe('Reading items by a map', () => {
  it('lets the process do other work between items', async () => {
    const map: RecordMap = { name: 'slow', files: [], items: null, members: [], idOf: () => 'a', mapped: slow };
    const content = (async function* () {
      yield await Promise.resolve(Buffer.from(`[${Array(50).fill('{}').join(',')}]`));
    })();
    const { start, bytes } = await opened(plainBytes(content, false));
    let turns = 0;
    const others = setInterval(() => (turns += 1), 10);

    let items = 0;
    for await (const lines of mappedLines(bytes, start, { fileIndex: 0, file: '-', format: null, map })) {
      items += lines.length;
    }
    clearInterval(others);

    expect([items, turns > 3]).toEqual([50, true]);
  });
});
