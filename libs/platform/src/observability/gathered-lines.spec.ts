import { GatheredLines } from './gathered-lines';

describe('Log lines', () => {
  let waiting: string[];
  let written: string[];
  /** As of a pipe that nobody reads from for a while. */
  let writing: boolean;
  let whenDone: (() => void)[];
  let flushes: number;
  let lines: GatheredLines;

  beforeEach(() => {
    jest.useFakeTimers();
    [waiting, written] = [[], []];
    [writing, whenDone, flushes] = [false, [], 0];
    const flushSync = (): void => {
      if (waiting.length > 0) written.push(waiting.splice(0).join(''));
    };
    const drain = (): void => whenDone.splice(0).forEach((done) => done());
    const flush = (): void => {
      flushes += 1;
      if (writing) return;
      flushSync();
      drain();
    };
    const once = (_event: 'drain', done: () => void): unknown => whenDone.push(done);
    lines = new GatheredLines({ write: (line) => waiting.push(line), flush, flushSync, once });
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
    expect(flushes).toBe(2);
  });

  it('that come while others are being written are written after them, though no more lines come', () => {
    writing = true;
    lines.write('one\n');
    jest.advanceTimersByTime(100);
    lines.write('two\n');
    jest.advanceTimersByTime(100);
    expect(written).toEqual([]);
    writing = false;
    for (const done of whenDone.splice(0)) done();
    expect(written).toEqual(['one\ntwo\n']);
  });

  it('are written at once before a process that ends by an error', () => {
    lines.write('fatal\n');
    lines.flushSync();
    expect(written).toEqual(['fatal\n']);
  });
});
