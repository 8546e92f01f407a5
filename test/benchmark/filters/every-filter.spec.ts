import { facetsOf, isConsistent, typesOf } from '../../../libs/inventory/src/assets/domain/asset-filter';
import { ASSET_FILTERS } from '../../support/asset-filters';
import { everyFilter } from './every-filter';

describe('The benchmarked filters', () => {
  const filters = everyFilter();
  /** The list's interpretation of a filter. */
  const shown = (filter: (typeof filters)[number]): string => JSON.stringify([typesOf(filter), facetsOf(filter)]);

  it('are listed once each and never contradict themselves', () => {
    expect(filters).toHaveLength((1 + 5 + 15) * 3 * 3 * 5);
    expect(new Set(filters.map((filter) => JSON.stringify(filter))).size).toBe(filters.length);
    expect(filters.filter((filter) => !isConsistent(filter) || facetsOf(filter).length === 0)).toEqual([]);
  });

  it('include every timed filter that is not a union', () => {
    const all = new Set(filters.map(shown));
    const single = ASSET_FILTERS.filter((filter) => !Object.keys(filter).some((name) => name.endsWith('AnyOf')));
    expect(single.length).toBeGreaterThan(10);
    expect(single.filter((filter) => !all.has(shown(filter)))).toEqual([]);
  });
});
