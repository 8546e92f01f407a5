import { GatheredLines } from './gathered-lines';

describe('Log lines', () => {
  let waiting: string[];
  let written: string[];
  let lines: GatheredLines;

  beforeEach(() => {
    jest.useFakeTimers();
    [waiting, written] = [[], []];
    const flush = (): void => void written.push(waiting.splice(0).join(''));
    lines = new GatheredLines({ write: (line) => waiting.push(line), flush, flushSync: flush });
  });
  afterEach(() => jest.useRealTimers());

  it('that come close together are written together, in their order, a fiftieth of a second after the first', () => {
    lines.write('one\n');
    jest.advanceTimersByTime(15);
    lines.write('two\n');
    expect(written).toEqual([]);
    jest.advanceTimersByTime(5);
    expect(written).toEqual(['one\ntwo\n']);
  });

  it('are waited for again after each time', () => {
    lines.write('one\n');
    jest.advanceTimersByTime(20);
    lines.write('two\n');
    jest.advanceTimersByTime(20);
    expect(written).toEqual(['one\n', 'two\n']);
    jest.advanceTimersByTime(1_000);
    expect(written).toHaveLength(2);
  });

  it('are written at once before a process that ends by an error', () => {
    lines.write('fatal\n');
    lines.flushSync();
    expect(written).toEqual(['fatal\n']);
  });
});
