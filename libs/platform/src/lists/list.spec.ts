import type { WorkspaceId } from '#libs/kernel';
import { equals } from './declaration';
import { listOf } from './list';

describe('A list', () => {
  it('keeps no more than a thousand statements, and makes the others again', () => {
    const names = Array.from({ length: 11 }, (_, place) => `column_${place}`);
    const filters = Object.fromEntries(names.map((name) => [name, equals(name)]));
    const columns = { selected: ['id'], at: { id: 0, next: 1 } };
    const list = listOf({ name: 'things', relation: 'thing', columns, toItem: ([id]) => id, filters });
    const statementOf = (combination: number): unknown => {
      const given = names.filter((_, place) => combination & (1 << place));
      const wanted = { filters: Object.fromEntries(given.map((name) => [name, 'x'])) };
      return list.statement('w' as WorkspaceId, wanted, { size: 25, after: null });
    };
    const first = statementOf(1);

    for (let combination = 0; combination < 1 << names.length; combination += 1) statementOf(combination);

    expect(list['statements'].size).toBeLessThanOrEqual(1_000);
    expect(statementOf(1)).toEqual(first);
  });
});
