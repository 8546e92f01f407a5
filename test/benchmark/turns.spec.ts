import { takeTurns } from './turns';

describe('Variants', () => {
  it('take turns within each round, and the first round only warms up', async () => {
    const asked: string[] = [];
    const values = await takeTurns(
      ['api', 'floor'],
      { rounds: 2, turns: 2 },
      (variant) => {
        asked.push(variant);
        return Promise.resolve(asked.length);
      },
      (turns) => Math.max(...turns),
    );
    expect(asked).toEqual(Array.from({ length: 5 }, () => ['api', 'floor']).flat());
    // The fourth and sixth turn were in the first counted round, the eighth and tenth in the second.
    expect(values).toEqual({ api: [5, 9], floor: [6, 10] });
  });
});
