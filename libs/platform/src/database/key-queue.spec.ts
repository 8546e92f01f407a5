import { type Admission, KeyQueue } from './key-queue';

const end = (admission: Admission<string> | null, result: string | null): void => {
  if (admission?.kind !== 'turn') throw new Error('no turn');
  admission.end(result);
};

describe('KeyQueue', () => {
  it('admits one at a time, in order, while the previous ones fail', async () => {
    const queue = new KeyQueue<string>();
    const order: number[] = [];
    const first = await queue.enter('k', 1_000);
    const others = [1, 2, 3].map(async (number) => {
      const admission = await queue.enter('k', 1_000);
      order.push(number);
      end(admission, null);
    });
    await Promise.resolve();
    expect(order).toEqual([]);
    end(first, null);
    await Promise.all(others);
    expect(order).toEqual([1, 2, 3]);
  });

  it('gives all of them the result of the previous request', async () => {
    const queue = new KeyQueue<string>();
    const first = await queue.enter('k', 1_000);
    const others = [1, 2, 3].map(() => queue.enter('k', 1_000));
    end(first, 'done');
    expect(await Promise.all(others)).toEqual(Array(3).fill({ kind: 'result', result: 'done' }));
  });

  it('keeps keys separate', async () => {
    const queue = new KeyQueue<string>();
    await queue.enter('a', 0);
    expect(await queue.enter('b', 0)).toMatchObject({ kind: 'turn' });
  });

  it('gives up when the time is over, and skips requests that gave up', async () => {
    const queue = new KeyQueue<string>();
    const first = await queue.enter('k', 1_000);
    const [impatient, patient] = [queue.enter('k', 5), queue.enter('k', 1_000)];
    expect(await impatient).toBeNull();
    end(first, null);
    expect(await patient).toMatchObject({ kind: 'turn' });
  });

  it('forgets a key when nobody is left', async () => {
    const queue = new KeyQueue<string>();
    for (const result of ['done', null]) {
      end(await queue.enter('k', 0), result);
      expect((queue as unknown as { waiting: Map<string, unknown> }).waiting.size).toBe(0);
    }
  });
});
