import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';
import { StreamTurns } from './stream-turns';

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
