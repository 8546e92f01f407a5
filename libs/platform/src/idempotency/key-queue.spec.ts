import { type Admission, KeyQueue } from './key-queue';

const end = (admission: Admission | null, succeeded: boolean): void => {
  if (admission?.kind !== 'turn') throw new Error('no turn');
  admission.end(succeeded);
};

describe('KeyQueue', () => {
  it('admits one at a time, in order, while the previous ones fail', async () => {
    const queue = new KeyQueue();
    const order: number[] = [];
    const first = await queue.enter('k', 1_000);
    const others = [1, 2, 3].map(async (number) => {
      const admission = await queue.enter('k', 1_000);
      order.push(number);
      end(admission, false);
    });
    await Promise.resolve();
    expect(order).toEqual([]);
    end(first, false);
    await Promise.all(others);
    expect(order).toEqual([1, 2, 3]);
  });

  it('admits all at once when the previous request succeeded', async () => {
    const queue = new KeyQueue();
    const first = await queue.enter('k', 1_000);
    const others = [1, 2, 3].map(() => queue.enter('k', 1_000));
    end(first, true);
    expect(await Promise.all(others)).toEqual([{ kind: 'succeeded' }, { kind: 'succeeded' }, { kind: 'succeeded' }]);
  });

  it('keeps keys separate', async () => {
    const queue = new KeyQueue();
    await queue.enter('a', 0);
    expect(await queue.enter('b', 0)).toMatchObject({ kind: 'turn' });
  });

  it('gives up when the time is over, and skips requests that gave up', async () => {
    const queue = new KeyQueue();
    const first = await queue.enter('k', 1_000);
    const [impatient, patient] = [queue.enter('k', 5), queue.enter('k', 1_000)];
    expect(await impatient).toBeNull();
    end(first, false);
    expect(await patient).toMatchObject({ kind: 'turn' });
  });

  it('forgets a key when nobody is left', async () => {
    const queue = new KeyQueue();
    for (const succeeded of [true, false]) {
      end(await queue.enter('k', 0), succeeded);
      expect((queue as unknown as { waiting: Map<string, unknown> }).waiting.size).toBe(0);
    }
  });
});
