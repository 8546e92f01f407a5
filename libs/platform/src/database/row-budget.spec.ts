import { RowBudget } from './row-budget';

describe('RowBudget', () => {
  it('keeps rows up to the one that reaches the bytes', () => {
    const budget = new RowBudget(10, 100);

    expect([60, 60, 1].map((bytes) => budget.takes(bytes))).toEqual([true, true, false]);
    expect(budget.isCut).toBe(true);
  });

  it('keeps one row of any size', () => {
    const budget = new RowBudget(10, 100);

    expect([budget.takes(1_000), budget.isCut]).toEqual([true, false]);
  });

  it('begins again with a read that is repeated', () => {
    const budget = new RowBudget(10, 100);
    [100, 1].forEach((bytes) => budget.takes(bytes));

    budget.begin();

    expect([budget.isCut, budget.takes(1)]).toEqual([false, true]);
  });
});
