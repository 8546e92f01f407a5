import { differenceOf } from './same-pages';

const shown = (...names: string[]) => names.map((name) => ({ name }));
const api = (results: object[], totalCount = 9) => ({ results, pageInfo: { endCursor: null, totalCount } });

describe('The comparison of pages with another program', () => {
  it('accepts the same assets and total in any place of the response', () => {
    expect(differenceOf({ data: shown('a', 'b') }, api(shown('a', 'b')))).toBeNull();
    const data = [{ position: '7', name: 'a' }];
    expect(differenceOf({ data, meta: { filter_count: 9 } }, api(shown('a')))).toBeNull();
  });

  it.each([
    ['other assets', { data: shown('a', 'c') }, api(shown('a', 'b'))],
    ['another order', { data: shown('b', 'a') }, api(shown('a', 'b'))],
    ['less of an asset', { data: [{}] }, api(shown('a'))],
    ['more of an asset', { data: [{ name: 'a', region: null }] }, api(shown('a'))],
    ['fewer assets', { data: shown('a') }, api(shown('a', 'b'))],
    ['more assets', { data: shown('a', 'b') }, api(shown('a'))],
    ['another total', { data: shown('a'), meta: { filter_count: 10 } }, api(shown('a'))],
    ['nothing at all', { data: [] }, api([])],
  ])('reports %s', (_what, directus, page) => {
    expect(differenceOf(directus, page)).not.toBeNull();
  });
});
