import { type Timed, ratioAtRandom, ratioByDepth, ratioBySize, worstOf } from './ratios';

const page = (items: number, ...times: number[]): Timed => ({ items, times });
const pages = (first: Timed, middle = first, last = first) => ({ first, middle, last });

describe('The ratio of a filter', () => {
  it('compares sizes at the worst depth, round by round', () => {
    const small = pages(page(25, 1, 10, 2), page(25, 2, 20, 4));
    const large = pages(page(25, 1, 30, 2), page(25, 5, 50, 4));
    expect(ratioBySize([small, large])).toBe(2.5);
  });

  it('compares with the smallest workspace that has as many items on the page', () => {
    const small = pages(page(25, 1), page(4, 1));
    const medium = pages(page(25, 9), page(25, 2));
    const large = pages(page(25, 2), page(25, 6));
    expect(ratioBySize([small, medium, large])).toBe(3);
  });

  it('says nothing about size without a workspace to compare with', () => {
    expect(ratioBySize([pages(page(25, 1))])).toBeNull();
    expect(ratioBySize([pages(page(4, 1)), pages(page(25, 1))])).toBeNull();
  });

  it('of depth divides its last page in the largest workspace by its first', () => {
    const large = pages(page(25, 2, 4), page(25, 9, 9), page(25, 3, 6));
    expect(ratioByDepth([pages(page(25, 1)), large])).toBe(1.5);
  });
});

describe('The ratio of pages at random', () => {
  it('compares the largest workspace with the smallest round by round', () => {
    expect(
      ratioAtRandom([
        [1, 10, 2],
        [9, 9, 9],
        [1, 30, 4],
      ]),
    ).toBe(2);
  });

  it.each([[[]], [[[1]]], [[[1], undefined]], [[undefined, [1]]]])(
    'is missing when a measurement is missing: %j',
    (times) => {
      expect(ratioAtRandom(times)).toBeNull();
    },
  );
});

describe('The worst ratio of all filters', () => {
  it('leaves out filters without a ratio', () => expect(worstOf([1.1, null, 1.2])).toBe(1.2));

  it.each([[[]], [[null]], [[1, Number.NaN, 2]]])('is no number when a measurement is missing: %j', (ratios) => {
    expect(worstOf(ratios)).toBeNaN();
  });

  it('is no number when a page was never timed', () => {
    expect(ratioBySize([pages(page(25)), pages(page(25, 1))])).toBeNaN();
    expect(ratioBySize([pages(page(25, 1)), pages(page(25))])).toBeNaN();
  });
});
