import { PassThrough } from 'node:stream';
import type { PoolClient } from 'pg';
import { receiveInTurn } from './large-results';

const LARGE = 1_000_000;

/** A batch on a connection of its own. */
function aBatch() {
  const stream = new PassThrough().resume();
  const end = receiveInTurn({ connection: { stream } } as unknown as PoolClient);
  return { end, receive: (bytes: number) => stream.emit('data', Buffer.alloc(bytes)), waits: () => stream.isPaused() };
}

describe('The result of a batch', () => {
  let batches: ReturnType<typeof aBatch>[];
  beforeEach(() => {
    batches = Array.from({ length: 4 }, aBatch);
  });
  afterEach(() => batches.forEach(({ end }) => end()));

  const allReceive = (bytes: number): void => batches.forEach(({ receive }) => receive(bytes));
  const waits = (): boolean[] => batches.map((batch) => batch.waits());
  const end = (place: number): void => batches[place]?.end();

  it('arrives alone when it is large, and the others wait in line', () => {
    allReceive(LARGE);

    expect(waits()).toEqual([false, true, true, true]);
    end(0);
    expect(waits()).toEqual([false, false, true, true]);
    end(1);
    expect(waits()).toEqual([false, false, false, true]);
  });

  it('is large by all of its bytes', () => {
    allReceive(LARGE / 2);

    expect(waits()).toEqual([false, false, false, false]);
    allReceive(LARGE / 2);
    expect(waits()).toEqual([false, true, true, true]);
  });

  it('leaves the line when its batch fails, and its connection is read again', () => {
    allReceive(LARGE);

    end(1);

    expect(waits()).toEqual([false, false, true, true]);
    end(0);
    expect(waits()).toEqual([false, false, false, true]);
  });
});
