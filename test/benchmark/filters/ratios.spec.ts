import { type Timed, ratioAtRandom, ratioByDepth, ratioBySize, worstOf } from './ratios';

const page = (items: number, ...times: number[]): Timed => ({ items, times });
const pages = (first: Timed, middle = first, last = first) => ({ first, middle, last });

describe('A filter', () => {
  it('is as flat as at its worst depth, round by round', () => {
    const small = pages(page(25, 1, 10, 2), page(25, 2, 20, 4));
    const large = pages(page(25, 1, 30, 2), page(25, 5, 50, 4));
    expect(ratioBySize([small, large])).toBe(2.5);
  });

  it('is held against the smallest workspace, and of those only where a page has as many items', () => {
    const small = pages(page(25, 1), page(4, 1));
    const medium = pages(page(25, 9), page(25, 2));
    const large = pages(page(25, 2), page(25, 6));
    expect(ratioBySize([small, medium, large])).toBe(3);
  });

  it('shows nothing about size where there is nothing to hold it against', () => {
    expect(ratioBySize([pages(page(25, 1))])).toBeNull();
    expect(ratioBySize([pages(page(4, 1)), pages(page(25, 1))])).toBeNull();
  });

  it('is as deep as its last page in the largest workspace is slower than its first', () => {
    const large = pages(page(25, 2, 4), page(25, 9, 9), page(25, 3, 6));
    expect(ratioByDepth([pages(page(25, 1)), large])).toBe(1.5);
  });
});

describe('Pages at random', () => {
  it('are those of the largest workspace against those of the smallest, round by round', () => {
    expect(
      ratioAtRandom([
        [1, 10, 2],
        [9, 9, 9],
        [1, 30, 4],
      ]),
    ).toBe(2);
  });

  it.each([[[]], [[[1]]], [[[1], undefined]], [[undefined, [1]]]])('show nothing where one is missing: %j', (times) => {
    expect(ratioAtRandom(times)).toBeNull();
  });
});

describe('The worst of all filters', () => {
  it('leaves out what could not be compared', () => expect(worstOf([1.1, null, 1.2])).toBe(1.2));

  it.each([[[]], [[null]], [[1, Number.NaN, 2]]])('is no number where one is missing: %j', (ratios) => {
    expect(worstOf(ratios)).toBeNaN();
  });

  it('is no number where a page was never timed', () => {
    expect(ratioBySize([pages(page(25)), pages(page(25, 1))])).toBeNaN();
    expect(ratioBySize([pages(page(25, 1)), pages(page(25))])).toBeNaN();
  });
});
