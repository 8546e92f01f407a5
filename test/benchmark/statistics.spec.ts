import { formatNumber, formatSpread, median, medianRatio, quantile, spreadOf } from './statistics';

describe('Statistics', () => {
  it.each([
    [[5], 5],
    [[30, 1, 2], 2],
    [[4, 1, 3, 2], 2.5],
    [[10, 9, 8, 100, 7], 9],
  ])('find in %j the median %d in any order', (values, expected) => {
    expect(median(values)).toBe(expected);
  });

  it('have no median of an empty list', () => expect(median([])).toBeNaN());

  it('leave the values in order', () => {
    const values = [3, 1, 2];
    median(values);
    quantile(values, 0.5);
    expect(values).toEqual([3, 1, 2]);
  });

  it.each([
    [0.5, 50],
    [0.99, 99],
    [1, 100],
    [0, 1],
  ])('find the value that a share of %d does not exceed', (share, expected) => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(quantile(values, share)).toBe(expected);
  });

  it('give the spread from minimum to maximum', () => {
    expect(spreadOf([2, 9, 4])).toEqual({ median: 4, least: 2, most: 9 });
    expect(formatSpread([2, 9, 4])).toBe('4 (2 to 9)');
    expect(formatSpread([4])).toBe('4');
  });

  it('compare within rounds, so that one slow round changes nothing', () => {
    expect(medianRatio([2, 2, 200], [1, 1, 100])).toBe(2);
    expect(medianRatio([2, 6, 3], [1, 2, 3])).toBe(2);
  });

  it('refuse two series with different numbers of rounds', () => {
    expect(() => medianRatio([1, 2], [1])).toThrow('2 rounds cannot be held against 1.');
  });

  it.each([
    [1_234_567.8, '1,234,568'],
    [1_000, '1,000'],
    [25, '25'],
    [123.456, '123'],
    [12.345, '12.3'],
    [0.6549, '0.65'],
    [0.00356, '0.0036'],
    [0, '0'],
    [Number.NaN, '–'],
  ])('write %d as %s', (value, text) => expect(formatNumber(value)).toBe(text));
});
