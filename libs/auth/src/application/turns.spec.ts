import { setTimeout as delay } from 'node:timers/promises';
import { Turns } from './turns';

describe('Turns', () => {
  const turns = new Turns();
  afterEach(async () => {
    await delay(0);
    expect(turns.size).toBe(0);
  });

  it('come one after the other, in order, whatever became of the one before', async () => {
    const said: string[] = [];
    const work = (name: string, fails = false) =>
      turns.take('a', 1_000, async () => {
        said.push(`${name} begins`);
        await delay(5);
        said.push(`${name} ends`);
        if (fails) throw new Error(name);
        return name;
      });
    const results = await Promise.allSettled([work('1', true), work('2'), work('3')]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(said).toEqual(['1 begins', '1 ends', '2 begins', '2 ends', '3 begins', '3 ends']);
  });

  it('of another key do not wait', async () => {
    const slow = turns.take('a', 1_000, () => delay(50));
    expect(await turns.take('b', 0, () => Promise.resolve('done'))).toBe('done');
    await slow;
  });

  it('that do not come in time are given up, and those behind still wait for those before', async () => {
    let ended = false;
    const slow = turns.take('a', 0, () => delay(60).then(() => (ended = true)));
    const impatient = turns.take('a', 10, () => Promise.resolve('never'));
    const patient = turns.take('a', 1_000, () => Promise.resolve(ended));
    expect([await impatient, await patient]).toEqual([null, true]);
    await slow;
  });
});
