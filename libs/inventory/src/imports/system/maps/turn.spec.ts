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
  it('lets the process do other work between items, whose steps each wait for a turn', async () => {
    const map: RecordMap = { name: 'slow', files: [], items: null, members: [], idOf: () => 'a', mapped: slow };
    const content = (async function* () {
      yield await Promise.resolve(Buffer.from(`[${Array(200).fill('{}').join(',')}]`));
    })();
    const { start, bytes } = await opened(plainBytes(content, false));
    let turns = 0;
    let ended = false;
    const takeTurns = (): void => {
      turns += 1;
      if (!ended) setImmediate(takeTurns);
    };
    takeTurns();

    let items = 0;
    for await (const lines of mappedLines(bytes, start, { fileIndex: 0, file: '-', format: null, map })) {
      items += lines.length;
    }
    ended = true;

    expect([items, turns > 30]).toEqual([200, true]);
  });
});
